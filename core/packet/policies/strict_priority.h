// SPDX-License-Identifier: Apache-2.0
/// Strict priority among classes 1..7: the lower number first, as class 0 comes before all. A class
/// may starve those behind it.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

struct StrictPriority {
    static constexpr const char* kWord = "strict";

    SLUICE_HD static std::uint32_t pick(const World&, Egress& egress, std::uint32_t mask) {
        std::uint32_t first = 1;
        while ((mask >> first & 1U) == 0) {
            ++first;
        }
        egress.last_class = static_cast<std::uint8_t>(first);
        return first;
    }
};

}  // namespace sluice::step
