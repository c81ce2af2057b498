// SPDX-License-Identifier: Apache-2.0
/// Files that end with a checksum: a mutation alone would never come further than that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/checksum.h"
#include "core/random.h"
#include "restore/bytes.h"

namespace sluice::restore {

/// The bytes with their last eight made the checksum of those before.
inline std::string sealed(std::string_view bytes) {
    std::string whole(bytes.substr(0, bytes.size() < 8 ? 0 : bytes.size() - 8));
    append_word(whole, checksum(whole));
    return whole;
}

/// The same with one to four bytes of the first `reach` changed, by counter from `seed`.
inline std::string mutated(std::string bytes, std::size_t reach, std::uint64_t seed) {
    const auto most = static_cast<std::uint32_t>(std::min(reach, bytes.size()));
    for (std::uint32_t i = 0; i <= uniform_below(seed, 1, 0, 4); ++i) {
        bytes[uniform_below(seed, 2, i, most)] = static_cast<char>(uniform_below(seed, 3, i, 256));
    }
    return sealed(bytes);
}

}  // namespace sluice::restore
