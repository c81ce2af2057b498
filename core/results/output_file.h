// SPDX-License-Identifier: Apache-2.0
/// A text file that appears under its name only when it is complete: bytes go to PATH.partial,
/// commit() renames it. The partial file is locked, so two runs cannot write into one folder at
/// the same time. All failures are ConfigError naming the file and the system's reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

class OutputFile {
  public:
    /// Opens PATH.partial, emptied.
    explicit OutputFile(const std::string& path);
    /// Without commit(): removes the partial file if nothing was kept in it, else leaves it.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    OutputFile& operator<<(std::string_view text);
    OutputFile& operator<<(std::int64_t number);
    OutputFile& operator<<(char character);

    /// Marks what was written so far as a mere preamble (a header line): not worth keeping.
    void preamble_done();
    /// Hands everything written to the system.
    void flush();
    /// Flushes, closes and renames to the final name.
    void commit();

    const std::string& path() const { return path_; }

  private:
    void write_out();

    std::string path_;
    std::string buffer_;
    int descriptor_ = -1;
    bool worth_keeping_ = false;
};

}  // namespace sluice
