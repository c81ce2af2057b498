// SPDX-License-Identifier: Apache-2.0
/// What the building of a network would refuse, said of the scenario's keys.
#pragma once

#include "core/text/config_section.h"
#include "scenario/scenario.h"

namespace sluice {

/// ConfigError with file, line and column. `root`: the scenario's keys.
void check_network(const Scenario& scenario, ConfigSection& root);

}  // namespace sluice
