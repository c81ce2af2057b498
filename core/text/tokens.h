// SPDX-License-Identifier: Apache-2.0
/// The line-tracking reader under every text format of the HPCC family: whitespace-separated
/// tokens, any blanks, CRLF, blank lines; trailing text is simply not read. Also reads whole lines,
/// for CSV. Every error is a ConfigError with the file and the line of the offending token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/quantity.h"
#include "core/units.h"

namespace sluice {

class TokenReader {
  public:
    /// Reads `text`; `file` is only for messages.
    TokenReader(std::string file, std::string text);
    /// Reads a file. ConfigError if it cannot be read, is a folder or exceeds 1 GiB.
    static TokenReader open(const std::string& path);

    /// No token is left.
    bool at_end();
    /// The next token without taking it; empty at the end.
    std::string_view peek();
    /// The next token; `what` is what the caller expects, for the message at the end of the file.
    std::string_view next(std::string_view what);
    /// Next token as a quantity (see quantity.h); rates and times read bare numbers as ns-3 does.
    std::int64_t next_integer(std::string_view what, std::int64_t lowest, std::int64_t highest);
    double next_real(std::string_view what, double lowest, double highest);
    Rate next_rate(std::string_view what);
    Tick next_time(std::string_view what);
    Tick next_ns3_time(std::string_view what);

    /// The rest of the current line, without its end; false at the end of the file.
    bool next_line(std::string_view& line);

    /// A place to come back to, for formats that are recognised by looking ahead.
    struct Mark {
        std::size_t at;
        int line;
        int line_here;
    };
    Mark mark() const { return {at_, line_, line_here_}; }
    void rewind(const Mark& mark) {
        at_ = mark.at;
        line_ = mark.line;
        line_here_ = mark.line_here;
    }

    /// Line, from 1, of the last token or line taken.
    int line() const { return line_; }
    const std::string& file() const { return file_; }
    Place place(std::string_view what = {}) const { return {file_, line_, what}; }
    /// Throws ConfigError at the last token.
    [[noreturn]] void fail(const std::string& message) const { fail_at(place(), message); }
    /// An upper bound on the number of tokens left: guards allocations against absurd counts.
    std::size_t tokens_left_at_most() const { return (text_.size() - at_ + 1) / 2; }

  private:
    void skip_blanks();
    std::size_t token_end() const;

    std::string file_;
    std::string text_;
    std::size_t at_ = 0;
    int line_ = 1;       ///< of the last token taken
    int line_here_ = 1;  ///< of at_
};

/// The fields of a CSV line (no quoting), each without surrounding blanks.
std::vector<std::string_view> split_fields(std::string_view line, char separator);

}  // namespace sluice
