// SPDX-License-Identifier: Apache-2.0
/// The error of an algorithm that follows the largest of several truncated byte counters (HPCC).
///
/// A switch port reports the bytes that it has sent in whole units U. If E bytes pass between two reports, a counter that
/// stands x bytes above a whole unit shows floor((x + E) / U) units. The mean over time is E / U. The largest of several
/// counters shows more, unless all have the same x: with E = q U + r it shows q + 1 units if any of them rolls over.
///
/// If the same packets pass all these ports, the counters' distances never change. So even one packet that crossed them
/// earlier sets a flow's rate for its lifetime. With HPCC, frames of 1,090 bytes and units of 1,024, each further switch
/// lowers the rate by 6%.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/ids.h"

namespace sluice::hybrid {

/// Mean increase of the largest counter, divided by what passes: at least 1. `ahead`: bytes by which each counter is ahead
/// of the first, as one packet reads them. `bytes` pass between two reports. `unit` must be positive.
double counter_excess(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                      std::int64_t unit);

/// A port whose counter an algorithm reads.
struct Counter {
    std::int64_t ahead = 0;  ///< bytes by which it is ahead of the first, as one packet reads them
    double rate = 0;         ///< of its link, bytes per tick
    std::int64_t bytes = 0;  ///< that pass between two reports
    bool drifts = false;     ///< against those before it; else they keep their distances
};

/// The time between two reports by what an algorithm reads of the busiest port: the largest of counted bytes over rates,
/// ticks, in the mean over all places at which the counters may stand. `ahead` is of the first or the last one before that
/// drifts. If none does, and rates and bytes are equal, it is counter_excess() times what the bytes take. `unit` must be
/// positive, and there must be a counter.
double counted_time(const std::vector<Counter>& counters, std::int64_t unit);

/// The excess in steps of 1/512: groups whose excesses round to the same step are equal.
std::int64_t counter_class(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                           std::int64_t unit);

/// How switches count, and what passes between two reports to a flow.
struct CounterFacts {
    std::int64_t unit = 0;         ///< bytes; positive
    double packets_per_ack = 0;    ///< data packets from one report to the next
    double data_bytes = 0;         ///< of a data packet
    double ack_bytes = 0;          ///< bytes of ACKs per data packet
    bool acks_are_packets = true;  ///< false: counters don't count single ACKs
};

/// Bytes by which the counter of `to` is ahead of that of `from`, the port before it, as one packet reads them. Empty if
/// other traffic crosses only one of the two.
using CounterAhead = std::function<std::optional<std::int64_t>(PortId from, PortId to)>;

/// Per flow of a group: a class for each maximal run of two or more switch ports on its path that the same flows and ACKs
/// pass. Counters that other traffic crosses in between drift against each other, and need no class.
std::vector<std::vector<std::int64_t>> counter_classes(
    const std::vector<const step::Footprint*>& ways, const CounterFacts& facts,
    const CounterAhead& ahead);

}  // namespace sluice::hybrid
