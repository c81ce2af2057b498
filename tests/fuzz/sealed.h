// SPDX-License-Identifier: Apache-2.0
/// Files that end with a checksum: a mutation alone would never come further than that.
#pragma once

#include <string>
#include <string_view>

#include "core/checksum.h"
#include "restore/bytes.h"

namespace sluice::restore {

/// The bytes with their last eight made the checksum of those before.
inline std::string sealed(std::string_view bytes) {
    std::string whole(bytes.substr(0, bytes.size() < 8 ? 0 : bytes.size() - 8));
    append_word(whole, checksum(whole));
    return whole;
}

}  // namespace sluice::restore
