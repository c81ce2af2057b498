// SPDX-License-Identifier: Apache-2.0
/// The keys of a workload's table that say how its collectives run. Keys and defaults:
/// docs/scenario.md, type = "collective".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "scenario/scenario.h"
#include "workloads/collective/collective_library.h"

namespace sluice {

/// The key "channels"; kUsualChannels where it is not given.
std::uint32_t read_channels(ConfigSection& section);

/// The key "queue_pairs"; 0 where it is not given: as many as there are ports.
std::uint32_t read_queue_pairs(ConfigSection& section);

/// The key "ring_order".
RingOrder read_ring_order(ConfigSection& section);

CollectiveOptions read_collective_options(ConfigSection& section, const Scenario& scenario);

/// By rank: B/s of its host's ports of the network, without those to NVSwitches. Rank r is on hosts[r].
std::function<double(RankId)> nic_rates(const Topology& topology, const std::vector<NodeId>& hosts);

/// Where the job's ranks are: rank r on hosts[r].
void place_collectives(CollectiveOptions& options, const Topology& topology,
                       const std::vector<NodeId>& hosts, std::uint32_t queue_pairs);

}  // namespace sluice
