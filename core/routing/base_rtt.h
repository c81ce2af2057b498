// SPDX-License-Identifier: Apache-2.0
/// Base round-trip time and bandwidth-delay product of pairs of hosts, as HPCC ns-3 derives them
/// and gives them to queue pairs:
///     rtt = 2 x (sum of link delays) + sum over links of payload x 8 / rate
///     bdp = rtt x (least rate on the way) / 8, in bytes
/// Headers and the ACK's transmission are not counted. The path is the shortest by hops; among
/// equals, the one a breadth-first search from the destination finds first when it takes
/// neighbours by ascending id (and the lowest port among parallel links); under Arithmetic::ns3, as
/// NextHopOrder::ns3, by descending id and the last of parallel links. Among groups of switches as
/// Routing has it; of ways by way of another group: core/routing/valiant.h.
/// Under Arithmetic::ns3 delays and each link's transmission time are whole nanoseconds, truncated;
/// under Arithmetic::exact picoseconds, transmission times rounded up. bdp is truncated.
/// A round trip of 10,000 s or more is a ConfigError.
/// Failures play no part: these are properties of the topology as built.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice {

struct BaseRtt {
    Tick rtt = 0;
    Bytes bdp;
    Rate bottleneck;  ///< least rate on the way of a pair; zero for a whole network
};

struct BaseRttConfig {
    std::int64_t payload = 1000;  ///< bytes of a full packet's payload, 1 to 2^20 - 1
    Arithmetic arithmetic = Arithmetic::exact;
};

/// The largest rtt and the largest bdp of all pairs of hosts (GLOBAL_T); they may belong to
/// different pairs. Pairs without a path are left out. Costs one search per group of hosts that
/// hang alike on the same switches, not per host.
BaseRtt network_base_rtt(const Topology& topology, const BaseRttConfig& config);

/// For each (source, destination) pair, in order; zeros if there is no path. One search per group
/// of destinations.
std::vector<BaseRtt> pair_base_rtts(const Topology& topology, const BaseRttConfig& config,
                                    const std::vector<std::pair<NodeId, NodeId>>& pairs);

}  // namespace sluice
