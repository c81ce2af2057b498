// SPDX-License-Identifier: Apache-2.0
/// Text that came from somewhere, made fit for a terminal and for one's eyes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// What a line tells at most, in bytes.
inline constexpr std::size_t kMostLineBytes = 480;

/// Line breaks and tabs stay. What would steer a terminal or reorder the line is shown as \x1b or \u009b:
/// control characters, those of U+0080 to U+009F too, marks of direction, and bytes that are no UTF-8.
std::string printable(std::string_view text);

/// printable() on one line: breaks and tabs are blanks.
std::string printable_line(std::string_view text);

/// The beginning and the end of a text that has more bytes than `most`, which is 8 at least; no
/// character is cut.
std::string shortened(const std::string& text, std::size_t most = kMostLineBytes);

/// Each line of it shortened.
std::string shortened_lines(const std::string& text, std::size_t most = kMostLineBytes);

}  // namespace sluice
