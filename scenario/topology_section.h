// SPDX-License-Identifier: Apache-2.0
/// The [topology] table of a scenario: a builder and its sizes, or a topology.txt. Keys, units and
/// defaults: docs/scenario.md.
/// Errors: ConfigError with the place and what is allowed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "core/topology/topology.h"

namespace sluice {

/// The names that `type` may have.
std::vector<std::string> topology_types();

/// Builds a connected network. `resolve` turns the path of a topology file into one that can be opened.
Topology build_topology(ConfigSection section,
                        const std::function<std::string(const std::string&)>& resolve);

}  // namespace sluice
