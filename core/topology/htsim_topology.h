// SPDX-License-Identifier: Apache-2.0
/// htsim's .topo files (csg-htsim, FatTreeTopology::load): a folded Clos of two or three tiers.
///     Nodes N / Tiers 2|3 / Podsize P, then for each tier k: Tier k, with Downlink_speed_Gbps,
///     Radix_Down, Radix_Up (not of the top), Downlink_Latency_ns, and, if other than 0, 1 and 1,
///     Switch_Latency_ns, Bundle, Oversubscribed. Keys in any case; # begins a comment line.
/// Tier 0 are the ToR switches, P / Radix_Down of them in a pod of P hosts; tier 1 aggregation,
/// tier 2 core. The numbers of aggregation and core switches follow from rates and
/// oversubscription, and must agree with Radix_Up and Bundle (parallel cables to each switch
/// above).
/// Wiring: a ToR joins every aggregation switch of its pod; aggregation switch j of a pod of A
/// joins cores j, j + A, j + 2A, ... Nodes: hosts by ToR, ToRs by pod, aggregation switches by pod,
/// cores.
/// A cable's delay is its latency plus half the switch latency of each end, which adds to every
/// path what the switches on it add.
/// Errors: ConfigError with file and line.
#pragma once

#include <string>
#include <vector>

#include "core/text/tokens.h"
#include "core/topology/topology.h"

namespace sluice {

/// It begins with a word or a comment; a topology.txt begins with a number. Takes nothing.
bool is_htsim_topology(TokenReader& reader);

/// Keys that mean nothing here (queue sizes) are left out, and told in `skipped`: "file:line: key".
Topology read_htsim_topology(TokenReader reader, std::vector<std::string>& skipped);

}  // namespace sluice
