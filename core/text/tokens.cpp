// SPDX-License-Identifier: Apache-2.0
#include "core/text/tokens.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/error.h"

namespace sluice {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace

TokenReader::TokenReader(std::string file, std::string text)
    : file_(std::move(file)), text_(std::move(text)) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (std::string_view(text_).substr(0, kByteOrderMark.size()) == kByteOrderMark) {
        at_ = kByteOrderMark.size();
    }
}

TokenReader TokenReader::open(const std::string& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        throw ConfigError(path, 0, "no such file");
    }
    if (std::filesystem::is_directory(status)) {
        throw ConfigError(path, 0, "is a folder, not a file");
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw ConfigError(path, 0, "cannot be read");
    }
    constexpr std::size_t kLargest = std::size_t{1} << 30;
    std::string text;
    std::array<char, 1 << 16> buffer{};
    while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kLargest) {
            throw ConfigError(path, 0, "larger than 1 GiB");
        }
    }
    if (in.bad()) {
        throw ConfigError(path, 0, "cannot be read");
    }
    return {path, std::move(text)};
}

void TokenReader::skip_blanks() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) {
        line_here_ += text_[at_] == '\n' ? 1 : 0;
    }
}

std::size_t TokenReader::token_end() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) {
        ++end;
    }
    return end;
}

bool TokenReader::at_end() {
    skip_blanks();
    return at_ == text_.size();
}

std::string_view TokenReader::peek() {
    skip_blanks();
    return std::string_view(text_).substr(at_, token_end() - at_);
}

std::string_view TokenReader::next(std::string_view what) {
    const std::string_view token = peek();
    if (token.empty()) {  // the place is the last token's
        fail("the file ends where " + std::string(what) + " is expected");
    }
    line_ = line_here_;
    at_ += token.size();
    return token;
}

std::int64_t TokenReader::next_integer(std::string_view what, std::int64_t lowest,
                                       std::int64_t highest) {
    const std::string_view token = next(what);
    return parse_integer(token, place(what), lowest, highest);
}

double TokenReader::next_real(std::string_view what, double lowest, double highest) {
    const std::string_view token = next(what);
    return parse_real(token, place(what), lowest, highest);
}

Rate TokenReader::next_rate(std::string_view what) {
    const std::string_view token = next(what);
    return parse_rate(token, place(what), BareNumber::ns3);
}

Tick TokenReader::next_time(std::string_view what) {
    const std::string_view token = next(what);
    return parse_time(token, place(what), BareNumber::ns3);
}

Tick TokenReader::next_ns3_time(std::string_view what) {
    const std::string_view token = next(what);
    return parse_ns3_time(token, place(what));
}

bool TokenReader::next_line(std::string_view& line) {
    if (at_ == text_.size()) {
        return false;
    }
    line_ = line_here_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line = std::string_view(text_).substr(at_, end - at_);
    if (!line.empty() && line.back() == '\r') {
        line.remove_suffix(1);
    }
    at_ = end;
    if (at_ < text_.size()) {
        ++at_;
        ++line_here_;
    }
    return true;
}

std::vector<std::string_view> split_fields(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    for (std::size_t begin = 0;;) {
        const std::size_t end = line.find(separator, begin);
        std::string_view field = line.substr(begin, end == line.npos ? line.npos : end - begin);
        while (!field.empty() && is_space(field.front())) {
            field.remove_prefix(1);
        }
        while (!field.empty() && is_space(field.back())) {
            field.remove_suffix(1);
        }
        fields.push_back(field);
        if (end == line.npos) {
            return fields;
        }
        begin = end + 1;
    }
}

}  // namespace sluice
