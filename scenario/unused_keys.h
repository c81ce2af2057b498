// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace sluice {

/// Keys that the scenario gives and that its mode, law and switches never look at: "key: why".
std::vector<std::string> keys_without_effect(const Scenario& scenario);

}  // namespace sluice
