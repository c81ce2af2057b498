// SPDX-License-Identifier: Apache-2.0
/// A network on many clocks, with the same results to the bit as on one.
///
/// Flows that share a cable or a host form a partition (FlowPartitions); partitions that may notice
/// each other in a switch's buffer (OccupancyBounds) form a *domain*, which has its own cells
/// (CellLayout) and its own clock. Up to the horizon (Horizon) nothing but packets under way can
/// happen, and packets stay in their domain: each domain runs there *solo*, window by window, one
/// after the other. Then all clocks stand at one instant and step *joint* windows, while flows start
/// and complete. What packets' domain is changes between joint windows only: a flow opened in a
/// window reaches no other node within it, so it can enter, and merge what it touches, before.
///
/// Where links change under flows, all is one domain until the last of these flows has left. Where the
/// horizon stays near, nodes are left whole: partitions are kept, and nothing else is paid for.
#pragma once

#include <algorithm>
#include <vector>

#include "core/clocks/cell_layout.h"
#include "core/clocks/flow_partitions.h"
#include "core/clocks/horizon.h"
#include "core/clocks/marked_nodes.h"
#include "core/clocks/membership.h"
#include "core/clocks/occupancy_bounds.h"
#include "core/clocks/window_loop.h"

namespace sluice::step {

/// How a run was divided among clocks.
struct ClockStatistics : MembershipStatistics {
    std::uint64_t windows_solo = 0;       ///< of one domain each
    std::uint64_t windows_joint = 0;      ///< of everything
    std::uint64_t stretches = 0;          ///< of solo windows, all domains between two horizons
    std::uint64_t bounded_stretches = 0;  ///< of these, while cells of one switch ran apart
    std::uint64_t bound_stops = 0;  ///< domains coupled because a switch's buffer was too small
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

class Domains {
  public:
    /// All must outlive this.
    Domains(WorldStore& store, FlowPartitions& partitions);
    ~Domains();
    Domains(const Domains&) = delete;
    Domains& operator=(const Domains&) = delete;

    void tune(const ClockTuning& tuning) { tuning_ = tuning; }
    /// One clock for everything: nobody knows where packets may be.
    void keep_one_clock() { one_clock_ = true; }

    /// The end of the stretch that may be run solo from `begin` on, all clocks standing at `now`; 0: a
    /// joint window is due. Nothing that happens between windows lies before `cut`.
    Tick solo_until(Tick begin, Tick now, Tick cut);
    /// Every domain by itself from `now` up to `end`. Returns the instant at which all stand then.
    template <class StepCell>
    Tick run_solo(Tick now, Tick end, StepCell&& step_cell) {
        Tick latest = now;
        for (DomainId d = 0; d < domains_.size(); ++d) {
            if (!domains_[d].alive) {
                continue;
            }
            const Tick lookahead = layout_.lookahead(d);
            for (Tick begin = next_instant_of(d); begin < end; begin = next_instant_of(d)) {
                const std::vector<std::uint32_t>& blocks = layout_.blocks(d);
                const Tick window_end = std::min(begin + lookahead, end);
                run_blocks(blocks.data(), blocks.size(), begin, window_end, step_cell);
                latest = std::max(latest, window_end);
                ++statistics_.windows_solo;
            }
        }
        check_stretch(end);
        joint_in_a_row_ = 0;
        return next_instant(store_.world()) == kNever ? latest : end;
    }
    /// One window [begin, end) of everything.
    template <class StepCell>
    void run_joint(Tick begin, Tick end, StepCell&& step_cell) {
        if (divided_) {
            run_blocks(all_blocks_.data(), all_blocks(), begin, end, step_cell);
        } else {
            run_window(store_.world(), begin, end, step_cell);
        }
        ++statistics_.windows_joint;
        ++joint_in_a_row_;
    }
    /// InternalError if what was just executed cannot be right.
    void check_windows() const;
    /// Flows' changes are taken up; everything before `now` has been executed.
    void after_changes(Tick now);
    /// All clocks stand at `now`, and flows' changes are about to be taken up.
    void stand_at(Tick now) { now_ = now; }

    /// `steady_route`: links have not changed under the flow.
    void after_entry(FlowSlot flow, const PartitionSet::Entry& entry, bool steady_route);
    void after_close(FlowSlot flow);
    void before_exit(FlowSlot flow);
    void after_exit(PartitionId from, const PartitionSet::Exit& exit);
    /// The flow may send something twice, or its packets leave its footprint.
    void unbind(FlowSlot flow);
    void before_links_change();
    void after_links_change();

    /// But for what Membership counts.
    const ClockStatistics& statistics() const { return statistics_; }

  private:
    struct Domain {
        std::vector<PartitionId> partitions;
        bool alive = false;
        bool stale = false;             ///< may fall apart, or be empty
        std::uint64_t reviewed_at = 0;  ///< in windows
    };

    void check_stretch(Tick end);
    Tick next_instant_of(DomainId domain) const;
    std::size_t all_blocks();
    DomainId new_domain();
    void add_partition(PartitionId id, DomainId domain);
    void remove_partition(PartitionId id);
    DomainId merge(DomainId a, DomainId b);
    void end_domain(DomainId domain);
    void review(DomainId domain);
    void review_stale();
    void mark_footprint(const Footprint& footprint, DomainId domain);
    void settle();
    void place(NodeId node);
    void divide();
    void gather();

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

    WorldStore& store_;
    FlowPartitions& partitions_;
    CellLayout layout_;
    OccupancyBounds bounds_;
    Horizon horizon_;
    ClockStatistics statistics_;
    ClockTuning tuning_;
    Tick now_ = 0;
    bool one_clock_ = false;
    bool divided_ = false;  ///< else every node is whole, and in the idle domain
    std::uint64_t joint_in_a_row_ = 0;

    std::vector<std::uint32_t> all_blocks_;
    std::vector<Domain> domains_;      ///< by domain id; the idle one is alive
    std::vector<DomainId> domain_of_;  ///< by partition
    std::vector<DomainId> ended_;      ///< whose cells settle() gives away
    std::size_t live_domains_ = 0;     ///< but for the idle one
    bool drops_were_possible_ = false;
    MarkedNodes marked_;            ///< to be placed
    std::vector<DomainId> owners_;  ///< place()'s scratch
};

}  // namespace sluice::step
