// SPDX-License-Identifier: Apache-2.0
/// A file that appears under its name only when it is complete: bytes go to PATH.partial, commit()
/// renames it. The partial file is locked, so two runs cannot write into one folder at the same time.
/// A device or a FIFO is written directly, as bytes come; a symbolic link, a folder and anything else
/// is refused: nothing but a regular file is ever replaced, and no link is followed. All failures are
/// ConfigError naming the file and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/leftovers.h"

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
    OutputFile& operator<<(char character) {
        *room_for(1) = character;
        ++filled_;
        return *this;
    }

    /// Marks what was written so far as a mere preamble (a header line): not worth keeping.
    void preamble_done();
    /// Hands everything written to the system.
    void flush();
    /// Flushes, closes and renames to the final name.
    void commit();

    const std::string& path() const { return path_; }
    /// The file that is open: PATH.partial, or PATH where it is written directly.
    const std::string& written() const { return written_; }

  private:
    /// For at most a buffer's bytes; who fills them adds to filled_. ConfigError if what was there can't be written.
    char* room_for(std::size_t bytes) {
        worth_keeping_ = true;
        if (buffer_.size() - filled_ < bytes) write_out();
        return buffer_.data() + filled_;
    }
    void write_out();

    std::string path_;
    std::string written_;
    std::vector<char> buffer_;
    std::size_t filled_ = 0;  ///< of the buffer
    Leftover leftover_;
    int descriptor_ = -1;
    bool direct_ = false;
    bool worth_keeping_ = false;
};

/// The name under which a file is written until it is complete.
std::string partial_name(const std::string& path);

/// ConfigError if an output could not be written there, for what is to be known long before.
void check_output_name(const std::string& path);

/// Writes a whole file at once.
void write_output(const std::string& path, std::string_view bytes);

}  // namespace sluice
