// SPDX-License-Identifier: Apache-2.0
/// What a law that follows the busiest of several truncated byte counters (HPCC) reads beyond what is sent.
///
/// A switch port reports the bytes that it has sent in whole units. Between two reports E bytes have passed; a counter
/// that stands x beyond a whole unit shows floor((x + E) / U) units of U. Over time that is E / U in the mean. But the
/// largest of several counters is more, unless all stand at the same place within their units: with E = q U + r it
/// shows q + 1 units wherever any of them rolls over. Where the same packets pass all of these ports, their distances
/// never change, so what has crossed them before, one packet even, sets the rate of a flow for all of its life:
/// under HPCC with frames of 1,090 bytes and units of 1,024 each switch more takes 6%.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/ids.h"

namespace sluice::hybrid {

/// Units that the largest of the counters shows in the mean, over what passes, in units: at least 1. `ahead`: how far
/// each counter is ahead of the first, bytes, as one packet reads them; `bytes` pass between two reports; `unit` above
/// 0.
double counter_excess(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                      std::int64_t unit);

/// The same as a class: excesses within a five-hundredth of each other are the same.
std::int64_t counter_class(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                           std::int64_t unit);

/// What switches count, and what passes between two reports to a flow.
struct CounterFacts {
    std::int64_t unit = 0;         ///< bytes; above 0
    double packets_per_ack = 0;    ///< data packets from one report to the next
    double data_bytes = 0;         ///< of a data packet
    double ack_bytes = 0;          ///< of ACKs, per data packet
    bool acks_are_packets = true;  ///< else none passes a counter by itself
};

/// How far the counter of `to` is ahead of that of `from`, the port before it, as one packet reads them, bytes; nothing
/// where others cross one of them alone.
using CounterAhead = std::function<std::optional<std::int64_t>(PortId from, PortId to)>;

/// Of a group of flows, by their order: a class for every longest stretch of two switch ports or more of the flow's way that the
/// same flows and ACKs pass. Counters of ports that others pass between them drift apart, and no class is needed.
std::vector<std::vector<std::int64_t>> counter_classes(
    const std::vector<const step::Footprint*>& ways, const CounterFacts& facts,
    const CounterAhead& ahead);

}  // namespace sluice::hybrid
