// SPDX-License-Identifier: Apache-2.0
/// Numbers in network byte order.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// Appends the `bytes` low bytes of `value`, the highest first.
inline void put_big_endian(std::string& out, std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) {
        out.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
    }
}

}  // namespace sluice
