// SPDX-License-Identifier: Apache-2.0
#include "core/memo/digest.h"

#include <fmt/core.h>

namespace sluice::memo {

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", high, low); }

std::string Digest::bytes() const {
    std::string bytes;
    for (const std::uint64_t word : {high, low}) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            bytes.push_back(static_cast<char>(word >> shift));
        }
    }
    return bytes;
}

std::optional<Digest> digest_from_bytes(std::string_view bytes) {
    if (bytes.size() != 16) return std::nullopt;
    std::uint64_t words[2] = {0, 0};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        words[i / 8] = words[i / 8] << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return Digest{words[0], words[1]};
}

}  // namespace sluice::memo
