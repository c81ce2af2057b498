// SPDX-License-Identifier: Apache-2.0
/// What a scenario has come to, key by key, defaults included: for programs that show or publish its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/text/config_section.h"

namespace sluice {

struct EffectiveKey {
    std::string name;  ///< "network.payload", "workload.0.size": as an override names it
    /// Quantities are text with their units. Numbers above 2^63 - 1 are doubles.
    std::variant<bool, std::int64_t, double, std::string> value;
};

/// In the order in which they were read. Lists and tables appear by their members; what is empty does not.
std::vector<EffectiveKey> effective_keys(const EffectiveConfig& effective);

}  // namespace sluice
