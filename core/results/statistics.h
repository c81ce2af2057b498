// SPDX-License-Identifier: Apache-2.0
/// What an engine counts while it runs. Plain integers, bumped on the packet path.
#pragma once

#include <cstdint>

namespace sluice {

/// Counters of one egress port (a directed link), since the start.
struct PortStatistics {
    std::int64_t tx_bytes = 0;         ///< bytes put on the wire, headers and control included
    std::int64_t tx_packets = 0;       ///< frames of every kind
    std::int64_t max_queue_bytes = 0;  ///< largest backlog seen after an enqueue
    std::int64_t ecn_marks = 0;        ///< packets marked at dequeue
    std::int64_t drops = 0;            ///< packets lost for want of buffer at this egress' switch
                                       ///< (counted at the port they would have left by), on a
                                       ///< failed link, or to the link's error rate
    std::int64_t pauses_sent = 0;      ///< PFC pause frames sent through this port
    std::int64_t paused_ticks = 0;     ///< time any data class of this port was paused by its peer
};

/// Totals of a run.
struct RunCounters {
    std::uint64_t packet_hops = 0;  ///< transmissions of data, ACK and control packets by any port
    std::uint64_t events = 0;       ///< arrivals, departures, timers and application calls executed
    std::uint64_t windows = 0;      ///< lookahead windows executed
    std::uint64_t drops = 0;
    std::uint64_t pfc_pauses = 0;
    std::uint64_t ecn_marks = 0;
    std::uint64_t retransmitted_bytes = 0;
    /// Order-independent sum over all hops of a mix of (time, port, flow, sequence, kind): equal
    /// for two engines exactly if they moved the same packets at the same times. 0 unless asked.
    std::uint64_t hop_checksum = 0;
};

}  // namespace sluice
