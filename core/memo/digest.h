// SPDX-License-Identifier: Apache-2.0
/// 128 bits that stand for a content, the same on every machine: against chance, not against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/random.h"

namespace sluice::memo {

struct Digest {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    /// 32 hexadecimal digits.
    std::string text() const;
    /// 16 bytes, the highest one first.
    std::string bytes() const;

    friend bool operator==(const Digest& a, const Digest& b) {
        return a.high == b.high && a.low == b.low;
    }
    friend bool operator!=(const Digest& a, const Digest& b) { return !(a == b); }
    friend bool operator<(const Digest& a, const Digest& b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
};

/// Inverse of bytes(); nothing for what is not 16 bytes.
std::optional<Digest> digest_from_bytes(std::string_view bytes);

/// Takes words in an order that counts. The halves mix differently, so that words on which one
/// agrees by chance are no likelier to agree on the other.
class Digester {
  public:
    void take(std::uint64_t word) {
        digest_.high = mix_bits(digest_.high ^ word);
        digest_.low = mix_bits(digest_.low + word * 0xda942042e4dd58b5ULL);
    }
    void take(const Digest& digest) {
        take(digest.high);
        take(digest.low);
    }
    const Digest& digest() const { return digest_; }

  private:
    Digest digest_{0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};
};

}  // namespace sluice::memo

template <>
struct std::hash<sluice::memo::Digest> {
    std::size_t operator()(const sluice::memo::Digest& digest) const {
        return static_cast<std::size_t>(digest.low);
    }
};
