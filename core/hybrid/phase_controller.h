// SPDX-License-Identifier: Apache-2.0
/// The phase controller: decides, group by group, when packets give way to a skip and when they
/// come back (HyGra's control layer, C1 and C2; Wormhole 3.2, 5.3 and 6.3).
///
/// A group is a partition, or (PhaseScope::network, as in HyGra) everything. While it is unsteady it is sampled
/// (GroupSampler); when the detector calls it steady, a skip is planned (SkipPlanner), through stages of which each has a
/// say (SkipStage), and executed (SkipExecutor). A flow that enters the group, or a link event, ends it earlier. Packets
/// then run again, and the detector must be convinced anew.
#pragma once

#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/supervisor.h"
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

class PhaseController : public step::Supervisor {
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

    bool leaves_out() const override;
    Tick next_cut(PartitionId id) const override;
    Tick next_cut() const override;
    void at_cut(PartitionId id, Tick at) override;
    void at_cut(Tick at) override;
    void before_entry(FlowSlot flow, const std::vector<PartitionId>& touched, Tick now) override;
    void after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now) override;
    void after_close(FlowSlot flow, PartitionId id, Tick now) override;
    void after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                    Tick now) override;
    bool is_settled(FlowSlot flow) const override { return deferral_->is_settled(flow); }
    void interrupted(const std::vector<PartitionId>& touched, Tick now) override;
    void before_link_event(Tick now) override;
    void disturbed(PortId port, Tick now) override;
    void call_set(NodeId host, Tick at) override { timers_.await(host, at); }

    step::CopyNotes* copy_notes() override;
    void fold(const step::Representatives& representatives) override {
        engine_.view().fold(representatives);
    }
    void take_up_separated() override;

  private:
    void look(GroupState& state, Tick at);
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
    Deferral no_deferral_;
    Deferral* deferral_ = &no_deferral_;
};

}  // namespace sluice::hybrid
