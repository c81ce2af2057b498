// SPDX-License-Identifier: Apache-2.0
/// Valiant's routing on a dragonfly (Kim 2008): a flow between two groups goes by way of a third one, drawn for it
/// alone, minimally to it and minimally on. Flows inside a group, and all of a network of two groups, go minimally.
/// The published algorithm draws for every packet; here a flow keeps its way, as packets of one way stay in order.
/// Its ACKs are drawn for themselves. Adaptive choices (UGAL) are not modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/routing/base_rtt.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice {

/// In the order of `flows`, which have their source ports; empty paths where tables say the same. `routing` is of
/// `topology`, whose switches have groups. A pure function of the topology, the flow's ends and ports, and the seed.
std::vector<FlowPath> valiant_paths(const Topology& topology, const Routing& routing,
                                    const std::vector<FlowSpec>& flows, std::uint64_t seed);

/// Windows and timers must hold for a way that is longer than the tables': raises `base` to what `path`'s is. Does
/// nothing under another routing, where given paths are taken as detours of the same base round trip.
void widen_to_path(BaseRtt& base, const Topology& topology, const BaseRttConfig& config,
                   const std::vector<PortId>& path);

}  // namespace sluice
