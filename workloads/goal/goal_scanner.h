// SPDX-License-Identifier: Apache-2.0
/// What the reader of GOAL text (workloads/goal/goal_text.h) reads with: lines of a stream, and the
/// labels of a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <istream>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"

namespace sluice::goal_text {

inline constexpr std::size_t kBlock = std::size_t{1} << 20;
inline constexpr std::size_t kLongestLine = kBlock;

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The lines of a stream, read in blocks.
class Lines {
  public:
    Lines(std::istream& input, const std::string& file) : input_(input), file_(file) {}

    int number() const { return number_; }
    [[noreturn]] void fail(const std::string& message) const {
        throw ConfigError(file_, number_, message);
    }

    /// The next line without its end; false at the end of the stream. Holds until the next call.
    bool next(std::string_view& line) {
        std::size_t searched = 0;
        for (;;) {
            const char* begin = buffer_.data() + at_;
            const std::size_t left = buffer_.size() - at_;
            const void* end =
                left > searched ? std::memchr(begin + searched, '\n', left - searched) : nullptr;
            if (end != nullptr) return take(line, static_cast<const char*>(end) - begin, 1);
            if (left > kLongestLine) {
                ++number_;
                fail("a line of more than 1 MiB; a statement has a line of its own");
            }
            searched = left;
            if (!refill()) return left > 0 && take(line, static_cast<std::ptrdiff_t>(left), 0);
        }
    }

  private:
    bool take(std::string_view& line, std::ptrdiff_t length, std::size_t newline) {
        line = {buffer_.data() + at_, static_cast<std::size_t>(length)};
        at_ += line.size() + newline;
        if (number_ < std::numeric_limits<int>::max()) ++number_;
        return true;
    }

    bool refill() {
        buffer_.erase(0, at_);
        at_ = 0;
        const std::size_t kept = buffer_.size();
        buffer_.resize(kept + kBlock);
        input_.read(buffer_.data() + kept, kBlock);
        const auto got = static_cast<std::size_t>(input_.gcount());
        buffer_.resize(kept + got);
        return got > 0;
    }

    std::istream& input_;
    const std::string& file_;
    std::string buffer_;
    std::size_t at_ = 0;
    int number_ = 0;
};

/// The labels of a rank. Those that traces and generators write, l1, l2, ... from 1 or on from the
/// rank before, take a table; others are hashed.
class Labels {
  public:
    /// False if the label exists.
    bool add(std::string_view label, std::uint32_t op) {
        if (std::uint32_t* slot = counted(label, op)) return std::exchange(*slot, op + 1) == 0;
        return other_.emplace(label, op).second;
    }
    /// Null if there is none.
    const std::uint32_t* find(std::string_view label) {
        std::uint32_t number = 0;
        if (numbered(label, number) && number >= base_ && number - base_ < counted_.size() &&
            counted_[number - base_] != 0) {
            found_ = counted_[number - base_] - 1;
            return &found_;
        }
        key_.assign(label);
        const auto entry = other_.find(key_);
        return entry == other_.end() ? nullptr : &entry->second;
    }
    void clear() {
        counted_.clear();
        other_.clear();
    }

  private:
    static bool numbered(std::string_view label, std::uint32_t& number) {
        if (label.size() < 2 || label.size() > 10 || label[0] != 'l' || label[1] == '0') {
            return false;
        }
        std::uint64_t value = 0;
        for (const char c : label.substr(1)) {
            if (!is_digit(c)) return false;
            value = value * 10 + static_cast<std::uint64_t>(c - '0');
        }
        number = static_cast<std::uint32_t>(value);
        return true;
    }
    /// The slot of a label whose number is not far beyond the operations that there are; null for
    /// one that must be hashed, or is already.
    std::uint32_t* counted(std::string_view label, std::uint32_t op) {
        std::uint32_t number = 0;
        if (!numbered(label, number)) return nullptr;
        if (counted_.empty()) base_ = number;
        if (number < base_ || number - base_ > 2 * (op + std::uint64_t{512})) return nullptr;
        number -= base_;
        key_.assign(label);
        if (!other_.empty() && other_.count(key_) > 0) return nullptr;
        if (number >= counted_.size()) {
            counted_.resize(std::max<std::size_t>(number + std::size_t{1}, counted_.size() * 2), 0);
        }
        return &counted_[number];
    }

    std::vector<std::uint32_t> counted_;  ///< by number - base_: operation + 1
    std::uint32_t base_ = 0;
    std::unordered_map<std::string, std::uint32_t> other_;
    std::string key_;
    std::uint32_t found_ = 0;
};

}  // namespace sluice::goal_text
