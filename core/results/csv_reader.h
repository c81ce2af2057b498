// SPDX-License-Identifier: Apache-2.0
/// Reads back a CSV file that a run has left, by the names of its columns.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace sluice {

/// The rows of a file, in order. Fields may be quoted, within a line. Errors are ConfigError with file and line.
class CsvReader {
  public:
    /// Reads the header. ConfigError if the file is missing or empty, or lacks one of the columns `wanted`.
    CsvReader(std::string path, const std::vector<std::string>& wanted);

    /// False at the end. ConfigError if the row has another number of fields than the header, or the file ends within it.
    bool next();

    /// The n-th of the wanted columns.
    const std::string& text(std::size_t n) const { return fields_[columns_[n]]; }
    bool empty(std::size_t n) const { return text(n).empty(); }
    /// Not negative.
    std::int64_t number(std::size_t n) const;
    double real(std::size_t n) const;

  private:
    bool next_line();

    std::string path_;
    std::ifstream in_;
    int row_ = 0;  ///< line of the file, from 1
    std::string line_;
    std::vector<std::string> fields_;
    std::vector<std::size_t> columns_;
    std::size_t width_ = 0;
};

}  // namespace sluice
