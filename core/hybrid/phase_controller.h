// SPDX-License-Identifier: Apache-2.0
/// The phase controller: decides, group by group, when packets give way to a skip and when they
/// come back (HyGra's control layer, C1 and C2; Wormhole 3.2, 5.3 and 6.3).
///
/// A group is a partition, or (PhaseScope::network, as in HyGra) everything. While it is unsteady it is sampled
/// (GroupSampler); when the detector calls it steady, a skip is planned (SkipPlanner), through stages of which each has a
/// say (SkipStage), and executed (SkipExecutor). A flow that enters the group, or a link event, ends it earlier. Packets
/// then run again, and the detector must be convinced anew. Called between windows (core/engine/).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/clocks/copy_notes.h"
#include "core/clocks/flow_partitions.h"
#include "core/hybrid/deferral.h"
#include "core/hybrid/group_copies.h"
#include "core/hybrid/group_members.h"
#include "core/hybrid/group_sampler.h"
#include "core/hybrid/group_table.h"
#include "core/hybrid/host_timers.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/phase_parts.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/skip_executor.h"
#include "core/hybrid/skip_planner.h"
#include "core/hybrid/stages/stages.h"

namespace sluice::hybrid {

class PhaseController {
  public:
    /// What is referred to must outlive the controller. Nothing is skipped to or beyond `stop`.
    /// `rates` gives those of steady phases; null: they are measured. `restorer` says what is queued at
    /// their ends; null: what was there before.
    PhaseController(PhaseEngine& engine, const step::FlowPartitions& partitions,
                    const RateSource* rates, Restorer* restorer, const PhaseConfig& config,
                    Tick stop);

    PhaseReport& report() { return report_; }
    Stages& stages() { return stages_; }
    PhaseParts parts() {
        return {engine_, partitions_, groups_, members_, timers_, report_, notes_, config_, stop_};
    }
    /// Flows may be deferred by `deferral`, of partitions on one clock where ACKs are packets. Before the first window; it
    /// must outlive the run.
    void defer(Deferral& deferral);
    /// The run ends at `now`: skips end there, and the last phases are reported.
    void finish(Tick now);

    /// Something is left out up to a later instant.
    bool leaves_out() const;
    /// The next instant at which something is to be looked at, kNever if none.
    Tick next_cut() const;
    /// Everything before `at` has been executed and nothing at or after it: looks at what is due.
    void at_cut(Tick at);

    /// `flow` was opened at `now`, which lies in the window just executed. Called before the
    /// partitions that it touches are merged: those that skip skip back to `now`. A flow under which
    /// links have changed exits and enters again, possibly after it has closed.
    void before_entry(FlowSlot flow, const std::vector<PartitionId>& touched, Tick now);
    void after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now);
    /// `part` takes a flow of which nothing is executed any more out of its partition, and calls after_parting(). Before the
    /// first window.
    void part_by(std::function<void(FlowSlot, Tick)> part) { part_ = std::move(part); }
    void after_parting(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit, Tick now);
    /// `flow`, which has parted before, has closed.
    void after_told(FlowSlot flow, Tick now);
    /// `flow` has closed and left its partition, `from`.
    void after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit, Tick now);
    /// Nothing of `flow` is executed any more, for its ends are known already: it keeps its way.
    bool is_settled(FlowSlot flow) const { return deferral_->is_settled(flow); }
    /// A packet that nobody foresaw comes to these partitions at `now`: those that skip skip back to `now`.
    void interrupted(const std::vector<PartitionId>& touched, Tick now);
    /// Links fail or are repaired at `now`: every partition that skips skips back to `now`.
    void before_link_event(Tick now);
    /// A frame is to leave by `port`, or a flow to start at its host, at `now`: the partition that has it
    /// asleep skips back to `now`. Only where ACKs are no packets.
    void disturbed(PortId port, Tick now);
    /// A timer at `at` was set for `host` by another host.
    void call_set(NodeId host, Tick at) { timers_.await(host, at); }

    // Partitions that are copies of each other, of which one is executed. The controller hears of the others' flows as
    // ever, and does to them what it does to the representative's. Of flows that differ it hears only when they are
    // executed by themselves.
    /// What it notes for symmetry reduction, the same all along. Null: nothing can be folded.
    step::CopyNotes* copy_notes();
    /// Before the first window, if something can be. `folds` must outlive this.
    void fold(const step::Folds& folds) { engine_.view().fold(folds); }
    /// There may be copies in CopyNotes::separated.
    void take_up_separated();

  private:
    void look(GroupState& state, Tick at);
    void end_plan(GroupState& state, Tick at);
    void leave_group(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit, Tick now);
    void tell_ends(const std::vector<ToldEnd>& ends, Tick at);
    bool form(GroupState& state, Tick at);
    bool follow(GroupState& state, Tick at);
    void renew_followers(Tick at);
    void run_calls(Tick at);

    PhaseConfig config_;
    Tick stop_;
    PhaseEngine& engine_;
    const step::FlowPartitions& partitions_;
    GroupTable groups_;
    PhaseReport report_;
    GroupMembers members_;
    step::CopyNotes notes_;
    HostTimers timers_;
    SkipStages stage_list_;
    SkipExecutor executor_;
    Stages stages_;
    GroupSampler sampler_;
    SkipPlanner planner_;
    GroupCopies copies_;
    std::function<void(FlowSlot, Tick)> part_;
    std::vector<std::uint32_t> parted_;  ///< groups that flows have just parted from
    Deferral no_deferral_;
    Deferral* deferral_ = &no_deferral_;
};

}  // namespace sluice::hybrid
