// SPDX-License-Identifier: Apache-2.0
/// Whether flows have met in queues: then packets' order is a matter of chance, and a run's times are one draw of a
/// distribution (docs/fidelity.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/results/statistics.h"
#include "experiment/experiment.h"

namespace sluice {

/// Packets that a port of a switch may hold where nothing meets: what a faster link hands over at once.
inline constexpr std::int64_t kPassingPackets = 8;

/// What a run's packets have met.
struct QueuesMet {
    bool packets = false;          ///< the mode moves packets
    std::size_t queued_ports = 0;  ///< contended_ports()
    std::uint64_t events = 0;      ///< ECN marks, PFC pauses and drops

    void add(const QueuesMet& other) {
        packets = packets || other.packets;
        queued_ports += other.queued_ports;
        events += other.events;
    }
};
/// Why two settings under which flows have met this gave the same flows.
std::string why_same(const QueuesMet& met);

/// Switches' ports that have held more than kPassingPackets full packets. 0 in a mode without packets.
std::size_t contended_ports(const Experiment& experiment, const std::vector<PortStatistics>& ports);

}  // namespace sluice
