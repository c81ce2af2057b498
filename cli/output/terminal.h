// SPDX-License-Identifier: Apache-2.0
/// All that commands print, on standard output and standard error. Nothing in it steers the terminal, no
/// line of a message is longer than anyone reads, and standard output that cannot be written is an error
/// of the command (exit code 74); standard error that cannot be written is passed over.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace sluice {

/// Standard output could not be written.
class PrintError : public std::runtime_error {
  public:
    explicit PrintError(int reason);
    /// It is a pipe that nobody reads any more.
    bool unread() const { return unread_; }

  private:
    bool unread_;
};

/// Opens descriptors 0 to 2 to nowhere where they are closed, so that no file of a run gets one of them. Once,
/// at the program's start.
void open_standard_streams();

/// A text on standard output, as it is but for what would steer a terminal. PrintError.
void print_text(std::string_view text);
/// A message on standard output: each of its lines is cut to what a line tells at most. PrintError.
void print_message(const std::string& text);
/// The same on standard error.
void print_error_message(const std::string& text) noexcept;
/// For the terminal itself, on standard error.
void print_controls(std::string_view text) noexcept;
/// Hands all that was printed to the system. PrintError.
void flush_output();

template <typename... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_message(fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_error_message(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace sluice
