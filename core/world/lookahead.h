// SPDX-License-Identifier: Apache-2.0
/// How far a node may run before anything that another node does can reach it.
#pragma once

#include "core/packet/network_config.h"
#include "core/topology/topology.h"

namespace sluice::step {

/// The least time from a transmission's start to its arrival: propagation plus the smallest frame,
/// so that links without delay are allowed; kept short of what an arrival key holds (order.h).
Tick link_lookahead(const Link& link, const NetworkConfig& config);
/// The least of all links. Throws ConfigError if a link's smallest frame takes no time at all.
Tick network_lookahead(const Topology& topology, const NetworkConfig& config);

}  // namespace sluice::step
