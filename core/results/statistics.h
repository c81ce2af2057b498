// SPDX-License-Identifier: Apache-2.0
/// What an engine counts while it runs. Plain integers, bumped on the packet path.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/units.h"

namespace sluice {

/// Packets that were lost, by cause.
struct DropCauses {
    std::int64_t no_room = 0;  ///< a switch's buffer was full, or the ACKs that a paused host holds
    std::int64_t no_way = 0;   ///< nothing led to their destination any more
    std::int64_t link_down = 0;  ///< they waited for a link that failed, or were on it
    std::int64_t cable = 0;      ///< to the cable's error rate
    std::int64_t outdated = 0;   ///< of a foreign model, for a flow that was over
};

/// Counters of one egress port (a directed link), since the start.
struct PortStatistics {
    std::int64_t tx_bytes = 0;         ///< bytes put on the wire, headers and control included
    std::int64_t tx_packets = 0;       ///< frames of every kind
    std::int64_t max_queue_bytes = 0;  ///< largest backlog seen after an enqueue
    std::int64_t ecn_marks = 0;        ///< packets marked at dequeue
    std::int64_t drops = 0;            ///< packets lost; counted at the port that they would have
                                       ///< left by, without a way at the one by which they came
    DropCauses drops_by;               ///< `drops`, by cause
    std::int64_t trimmed = 0;          ///< packets that lost their payload, and went on without
    std::int64_t pauses_sent = 0;      ///< PFC pause frames sent through this port
    std::int64_t paused_ticks = 0;     ///< time any data class of this port was paused by its peer
};

/// What a restorer of queues (phases.restore) was asked and did, over all skips. All 0 without one.
struct RestorationCounters {
    std::uint64_t ports = 0;     ///< switch ports that carry the group's data, as its skip ended
    std::uint64_t asked = 0;     ///< of them, where data had been queued before
    std::uint64_t moved = 0;     ///< of these, by over a quarter of a marking threshold or BDP
    std::int64_t placed = 0;     ///< packets
    std::int64_t taken_out = 0;  ///< packets
};

/// What remembering episodes came to (core/episodes/episode.h).
struct EpisodeCounters {
    std::uint64_t learned = 0;      ///< simulated from idle to idle
    std::uint64_t hits = 0;         ///< told
    std::uint64_t missed = 0;       ///< begun like one that is known, and simulated
    std::uint64_t interrupted = 0;  ///< met by something else after they were known, and simulated
    std::uint64_t resumed = 0;      ///< told, and met after a first end: the rest was simulated
    std::uint64_t late_calls = 0;  ///< ends that were heard of late, as what was held was simulated
};

/// What hybrid mode's phases came to.
struct PhaseCounters {
    std::uint64_t hops_saved = 0;    ///< packet-hops that packet mode would have executed in skips
    std::int64_t bytes_skipped = 0;  ///< payload advanced by equations
    std::uint64_t skips = 0;
    std::uint64_t recalled_skips = 0;   ///< of them, at rates that earlier runs had told a memo
    std::uint64_t skip_backs = 0;       ///< skips cut short by an interrupt that was not foreseen
    std::size_t most_partitions = 0;    ///< largest number at one time
    std::size_t largest_partition = 0;  ///< flows of the largest one seen
    double flow_s = 0;                  ///< simulated time that flows lasted, summed over flows
    double steady_flow_s = 0;           ///< of it, in steady phases
    RestorationCounters restoration;
    EpisodeCounters episodes;

    /// Phase mix: the fraction of flow-time in steady phases.
    double steady_share() const { return flow_s > 0 ? steady_flow_s / flow_s : 0; }
};

/// What an audit (core/audit) found. An error is the run's time less what packets would have taken, as a
/// share of it.
struct AuditCounters {
    double share = 0;            ///< of the run's packet-hops that it may take; 0: there was none
    std::uint64_t skips = 0;     ///< that could be drawn
    std::uint64_t audited = 0;   ///< that were
    std::uint64_t prefixes = 0;  ///< of these, not to their ends
    std::uint64_t episodes = 0;  ///< that were told
    std::uint64_t audited_episodes = 0;  ///< that were known, and simulated instead
    std::uint64_t inherited = 0;         ///< of told ones' kinds, by earlier runs
    std::uint64_t hops = 0;              ///< packet-hops of shadows and audited episodes
    std::uint64_t clusters = 0;          ///< partitions that audited skips are of
    double skipped_share = 0;            ///< of a flow's time, mean over flows
    /// Per skipped time: weighted mean and largest magnitude of the audited skips.
    double mean_skip_error = 0;
    double largest_skip_error = 0;
    double mean_episode_error = 0;     ///< of told flows' completion times
    double largest_episode_error = 0;  ///< of an episode's flows together
    /// For intervals: at least two clusters of skips, if there were any, and two audits of episodes, if any were told.
    bool enough = false;
    /// Mean over flows of the relative error of their completion times, and half of its 95% interval.
    double fct_error = 0;
    double fct_half = 0;
    /// The same of all flows' times together.
    double time_error = 0;
    double time_half = 0;
    double tolerance = 0;      ///< of fct_error
    Tick distrusted = kNever;  ///< when it was surely exceeded; all was executed from then on

    /// The whole interval is. enough.
    bool within_tolerance() const { return std::abs(fct_error) + fct_half <= tolerance; }
};

/// What folding came to: parts of the network that were executed once for several.
struct FoldCounters {
    std::uint64_t hops = 0;    ///< packet-hops of images, counted but not executed
    std::uint64_t images = 0;  ///< parts that followed another one
    std::uint64_t forks = 0;   ///< of these, parts that went their own way because their hosts did
};

/// Totals of a run. What its mode does not have stays 0 and is left out of its outputs.
struct RunCounters {
    std::uint64_t packet_hops = 0;  ///< transmissions of data, ACK and control packets by any port
    std::uint64_t events = 0;       ///< arrivals, departures, timers and application calls executed
    std::uint64_t windows = 0;      ///< lookahead windows executed
    std::uint64_t drops = 0;
    std::uint64_t pfc_pauses = 0;
    std::uint64_t ecn_marks = 0;
    std::uint64_t retransmitted_bytes = 0;
    std::uint64_t resent_late_bytes = 0;  ///< of them, after a time-out; the others after a NACK
    /// Order-independent sum over all hops of a mix of (time, port, flow, sequence, kind): equal
    /// for two engines exactly if they moved the same packets at the same times. 0 unless asked.
    std::uint64_t hop_checksum = 0;
    PhaseCounters phases;  ///< hybrid mode
    AuditCounters audit;   ///< hybrid mode
    FoldCounters fold;     ///< packet and hybrid mode
    std::uint32_t threads =
        1;  ///< that stepped windows: of how the run was made, not of its results
};

}  // namespace sluice
