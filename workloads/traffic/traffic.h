// SPDX-License-Identifier: Apache-2.0
/// Traffic without a job: lists of flows with start times. All draws are counter-based on
/// (seed, host, n), so a list depends on nothing but its arguments. Lists are in order of start.
/// Errors: ConfigError saying what is allowed.
#pragma once

#include <vector>

#include "core/flow/flow.h"
#include "workloads/traffic/flow_size_cdf.h"

namespace sluice {

/// Every host sends flows of random size to uniformly random other hosts, at instants of a Poisson
/// process whose mean gap is mean size x 8 / (rate x load): the HPCC traffic generator's
/// convention, in which load counts payload bytes only.
struct PoissonTraffic {
    double load = 0.3;  ///< of each host's `rate`, 0 < load <= 1
    Rate rate = gigabits_per_second(100);
    Tick start = 0;
    Tick duration = 10 * kMillisecond;  ///< flows start in [start, start + duration)
    std::uint64_t seed = 1;
};
std::vector<FlowSpec> poisson_traffic(const std::vector<NodeId>& hosts, const FlowSizeCdf& sizes,
                                      const PoissonTraffic& traffic);

/// `senders` other hosts each send one flow to hosts[receiver], each at start plus a uniform part
/// of jitter. Which hosts: drawn by seed.
struct IncastTraffic {
    std::uint32_t senders = 16;
    std::uint32_t receiver = 0;  ///< index in the host list
    Bytes size = {500'000};
    Tick start = 0;
    Tick jitter = 0;
    std::uint64_t seed = 1;
    std::uint16_t dport = 200;  ///< by convention, what marks incast in results
};
std::vector<FlowSpec> incast_traffic(const std::vector<NodeId>& hosts,
                                     const IncastTraffic& traffic);

/// What the fixed patterns below have in common.
struct PatternTraffic {
    Bytes size = {1'000'000};
    Tick start = 0;
    Tick jitter = 0;  ///< each flow starts at start plus a uniform part of it
    std::uint64_t seed = 1;
};
/// Every host sends one flow and receives one: a random permutation without fixed points.
std::vector<FlowSpec> permutation_traffic(const std::vector<NodeId>& hosts,
                                          const PatternTraffic& traffic);
/// Host i sends to host i + 1, the last to the first.
std::vector<FlowSpec> ring_traffic(const std::vector<NodeId>& hosts, const PatternTraffic& traffic);

}  // namespace sluice
