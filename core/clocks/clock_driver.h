// SPDX-License-Identifier: Apache-2.0
/// Advances one lane as LaneDriver does, with the same results to the bit, on many clocks.
///
/// Flows that share a cable or a host form a partition (FlowPartitions); partitions that may notice
/// each other in a switch's buffer (BufferLeases) form a *domain*, which has its own cells
/// (CellLayout) and its own clock. Up to the horizon (Horizon) nothing but packets under way can
/// happen, and packets stay in their domain: each domain runs there *solo*, window by window, one
/// after the other. Then all clocks stand at one instant and step *joint* windows, while flows start
/// and complete. What packets' domain is changes between joint windows only: a flow opened in a
/// window reaches no other node within it, so it can enter, and merge what it touches, before.
///
/// A flow leaves when none of its packets, late duplicates included, is in the network: as it
/// closes if it sent nothing twice and its packets kept their order, else when a search of the
/// links and queues finds none. Where links change under flows, all is one domain until the last of
/// these flows has left. Where the horizon stays near, nodes are left whole: partitions are kept,
/// and nothing else is paid for.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/clocks/buffer_leases.h"
#include "core/clocks/cell_layout.h"
#include "core/clocks/flow_partitions.h"
#include "core/clocks/horizon.h"
#include "core/clocks/lane_loop.h"
#include "core/clocks/supervisor.h"

namespace sluice::step {

/// How a run was divided among clocks.
struct ClockStatistics {
    std::uint64_t windows_solo = 0;      ///< of one domain each
    std::uint64_t windows_joint = 0;     ///< of everything
    std::uint64_t stretches = 0;         ///< of solo windows, all domains between two horizons
    std::uint64_t leased_stretches = 0;  ///< of these, while cells of one switch ran apart
    std::uint64_t lease_stops = 0;  ///< domains coupled because a switch's buffer was too small
    std::uint64_t entries = 0;      ///< flows
    std::uint64_t exits = 0;        ///< flows
    std::uint64_t searches = 0;     ///< for packets of flows that sent something twice
    std::uint64_t merges = 0;       ///< partitions absorbed by another
    std::uint64_t splits = 0;       ///< partitions split off
    std::uint64_t domains_merged = 0;
    std::uint64_t domains_split = 0;
    std::size_t most_domains = 0;
};

/// When dividing a network among clocks is worth its price; nothing depends on it but time.
struct ClockTuning {
    Tick shortest_stretch = 4;        ///< lookaheads to the horizon for a solo stretch
    Tick worth_dividing = 64;         ///< the same, where the nodes' ports are not divided yet
    std::uint64_t patience = 256;     ///< joint windows in a row before nodes are whole again
    std::uint64_t review_every = 32;  ///< windows between two examinations of a domain
};

class ClockDriver : public LaneLoop {
  public:
    /// Call store.begin() first. All references must outlive the driver; `supervisor` may be null.
    ClockDriver(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks,
                FlowPartitions& partitions, Supervisor* supervisor = nullptr);
    ~ClockDriver();

    /// One clock for everything, where a supervisor looks at all partitions at once. Before the
    /// first window.
    void keep_one_clock() { one_clock_ = true; }
    /// One clock for everything, and nobody knows where packets may be. Before the first window.
    void expect_packets_from_outside() { one_clock_ = outside_ = true; }
    /// A packet is about to be put on a link from outside; now() stands still meanwhile.
    void before_packet_from_outside(const Packet& packet);

    void tune(const ClockTuning& tuning) { tuning_ = tuning; }

    std::uint64_t windows() const { return statistics_.windows_solo + statistics_.windows_joint; }
    const ClockStatistics& statistics() const { return statistics_; }

    /// The next instant at which this lane has something to do.
    Tick next() const { return std::min(next_instant(store_.world()), next_cut()); }

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a cell;
    /// `after_window()` runs after each joint window and each stretch of solo windows. Returns
    /// next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        return drive(*this, limit, [&](Tick begin, Tick until) {
            const Tick apart = solo_until(begin, limit);
            if (apart > begin) {
                run_solo(apart, step_cell);
            } else {
                const Tick end = std::min(begin + store_.world().lookahead, until);
                run_blocks(all_blocks_.data(), all_blocks(), begin, end, step_cell);
                now_ = std::max(now_, end);
                ++statistics_.windows_joint;
                ++joint_in_a_row_;
            }
            take_up_changes();
            after_window();
            if ((windows() & 255U) == 0 || now_ >= hooks_.next_progress() || apart > begin) {
                hooks_.report(now_);
            }
        });
    }

    template <class StepCell>
    Tick advance(Tick limit, StepCell&& step_cell) {
        return advance(limit, std::forward<StepCell>(step_cell), [] {});
    }

  private:
    friend class LaneLoop;

    struct Domain {
        std::vector<PartitionId> partitions;
        bool alive = false;
        bool stale = false;             ///< may fall apart, or be empty
        std::uint64_t reviewed_at = 0;  ///< in joint windows
    };
    enum class Presence : std::uint8_t { absent, open, lingering };

    Tick next_cut() const { return next_cut_with(supervisor_); }
    void execute_cut(Tick at);
    Tick solo_until(Tick begin, Tick limit);
    void check_stretch(Tick end);
    Tick next_cut_of(const Domain& domain) const;
    void at_cut_of(const Domain& domain, Tick at);
    Tick next_instant_of(DomainId domain) const;
    std::size_t all_blocks();

    // Flows come and go.
    void take_up_changes();
    void enter(FlowSlot flow, Tick at);
    void leave(FlowSlot flow, Tick at);
    void close(FlowSlot flow, Tick at);
    void search_lingering();
    bool kept_order(FlowSlot flow) const;
    void take_up_link_events(Tick at);
    void hold_everything(FlowSlot flow);
    void change_footprint(FlowSlot flow, Footprint print);

    // Partitions become domains.
    DomainId new_domain();
    void add_partition(PartitionId id, DomainId domain);
    void remove_partition(PartitionId id);
    DomainId merge(DomainId a, DomainId b);
    void end_domain(DomainId domain);
    void review(DomainId domain);
    void review_stale();
    void mark(NodeId node);
    void mark_footprint(const Footprint& footprint, DomainId domain);
    void settle();
    void place(NodeId node);
    void divide();
    void gather();
    ResourceId cable_of(PortId port) const;

    template <class StepCell>
    void run_blocks(const std::uint32_t* blocks, std::size_t count, Tick begin, Tick end,
                    StepCell&& step_cell) {
        World& world = store_.world();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t b = blocks[i];
            if (world.block_wake[b] >= end) {
                continue;
            }
            const CellId last = layout_.end_of_block(b);
            Tick wake = kNever;
            for (CellId id = b * 64; id < last; ++id) {
                if (world.wake[id] < end) {
                    prefetch_node(world, layout_.cell(std::min(id + 1, last - 1)).node,
                                  world.node_count);
                    step_cell(layout_.cell(id), begin, end);
                }
            }
            for (CellId id = b * 64; id < last; ++id) {
                wake = std::min(wake, world.wake[id]);
            }
            world.block_wake[b] = wake;
        }
    }

    /// Every domain by itself up to `end`.
    template <class StepCell>
    void run_solo(Tick end, StepCell&& step_cell) {
        Tick latest = now_;
        for (DomainId d = 0; d < domains_.size(); ++d) {
            if (!domains_[d].alive) {
                continue;
            }
            const Tick lookahead = layout_.lookahead(d);
            Tick clock = now_;
            Tick cut = next_cut_of(domains_[d]);
            for (;;) {
                const Tick begin = next_instant_of(d);
                if (begin >= end && cut >= end) {
                    break;
                }
                if (begin == kNever) {
                    break;
                }
                if (cut <= begin) {
                    clock = std::max(clock, cut);
                    at_cut_of(domains_[d], clock);
                    cut = next_cut_of(domains_[d]);
                    continue;
                }
                const std::vector<std::uint32_t>& blocks = layout_.blocks(d);
                const Tick window_end = std::min({begin + lookahead, cut, end});
                run_blocks(blocks.data(), blocks.size(), begin, window_end, step_cell);
                clock = std::max(clock, window_end);
                ++statistics_.windows_solo;
            }
            latest = std::max(latest, clock);
        }
        check_stretch(end);
        joint_in_a_row_ = 0;
        now_ = next_instant(store_.world()) == kNever ? latest : end;
    }

    FlowPartitions& partitions_;
    Supervisor* supervisor_;
    CellLayout layout_;
    BufferLeases leases_;
    Horizon horizon_;
    ClockStatistics statistics_;
    bool one_clock_ = false;
    bool outside_ = false;
    bool divided_ = false;  ///< else every node is whole, and in the idle domain
    std::uint64_t joint_in_a_row_ = 0;
    ClockTuning tuning_;

    std::vector<std::uint32_t> all_blocks_;
    std::vector<Presence> presence_;  ///< by flow
    std::vector<FlowSlot> lingering_;
    std::vector<std::tuple<Tick, bool, FlowSlot>> changes_;  ///< scratch of take_up_changes()
    Tick next_search_ = kNever;
    std::vector<std::uint8_t> stray_;  ///< by flow: links have changed under it
    std::uint32_t strays_ = 0;
    FlowSlot holder_ = kNone;  ///< the stray that holds every resource

    std::vector<Domain> domains_;         ///< by domain id; the idle one is alive
    std::vector<DomainId> domain_of_;     ///< by partition
    std::vector<DomainId> ended_;         ///< whose cells settle() gives away
    std::size_t live_domains_ = 0;        ///< but for the idle one
    std::uint32_t divided_switches_ = 0;  ///< with cells of several domains
    bool drops_were_possible_ = false;
    std::vector<NodeId> marked_;           ///< to be placed
    std::vector<std::uint8_t> is_marked_;  ///< by node
    std::vector<DomainId> owners_;         ///< place()'s scratch
};

}  // namespace sluice::step
