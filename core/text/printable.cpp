// SPDX-License-Identifier: Apache-2.0
#include "core/text/printable.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

namespace sluice {
namespace {

constexpr std::string_view kLeftOut = " ... ";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// The code point at the front and its bytes; no bytes if it is no UTF-8 (RFC 3629).
struct Decoded {
    std::uint32_t point = 0;
    std::size_t bytes = 0;
};

Decoded decode(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
    std::uint32_t point = first & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (!continues(text[i])) return {};
        point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    const std::uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least || point > 0x10ffff || surrogate ? Decoded{} : Decoded{point, bytes};
}

bool steers(std::uint32_t point) {
    return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0) ||
           point == 0x061c || (point >= 0x200e && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
           point == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Decoded next = decode(text);
        if (next.bytes == 0 || (next.point < 0x80 && steers(next.point))) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        } else if (steers(next.point)) {
            out += fmt::format("\\u{:04x}", next.point);
        } else {
            out += text.substr(0, next.bytes);
        }
        text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    return out;
}

std::string printable_line(std::string_view text) {
    std::string out = printable(text);
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return out;
}

std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    const std::size_t kept = most - kLeftOut.size();
    // More of the beginning, which says where; the end says what is allowed.
    std::size_t front = kept - kept / 3;
    std::size_t back = text.size() - kept / 3;
    while (front > 0 && continues(text[front])) --front;
    while (back < text.size() && continues(text[back])) ++back;
    return text.substr(0, front).append(kLeftOut).append(text, back);
}

std::string shortened_lines(const std::string& text, std::size_t most) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += shortened(text.substr(at, end - at), most);
        if (end < text.size()) out += '\n';
        at = end + 1;
    }
    return out;
}

}  // namespace sluice
