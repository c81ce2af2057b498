// SPDX-License-Identifier: Apache-2.0
/// Decisions drawn from a fuzzer's bytes: whatever the bytes are, they lead to one sequence of decisions. Where they are
/// used up, every decision is the first one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace sluice::fuzz {

/// A defect, as the fuzzer sees it.
inline void require(bool holds) {
    if (!holds) std::abort();
}

/// What a message for people must be.
inline void require_line(const std::string& text) {
    require(!text.empty() && text.find('\n') == std::string::npos);
}

class Choices {
  public:
    Choices(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    bool left() const { return at_ < size_; }
    std::uint64_t bits(int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes && left(); ++i) value = value << 8 | data_[at_++];
        return value;
    }
    /// 0 to count - 1.
    std::uint32_t below(std::uint32_t count) {
        return static_cast<std::uint32_t>(bits(count <= 256 ? 1 : 4) % count);
    }
    bool chance(std::uint32_t percent) { return below(256) * 100 >= (100 - percent) * 256; }
    template <typename T, std::size_t N>
    T pick(const T (&list)[N]) {
        return list[below(N)];
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
    std::size_t at_ = 0;
};

}  // namespace sluice::fuzz
