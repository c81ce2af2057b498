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
    CalibrationStage& calibration() { return stages_.calibration(); }
    PhaseParts parts() { return {engine_, partitions_, groups_, timers_, report_, config_, stop_}; }
    /// Flows may be deferred by `deferral`, of partitions on one clock where ACKs are packets. Before the first window; it
    /// must outlive the run.
    void defer(Deferral& deferral);
    /// Tells `watcher`, which must outlive the run, of every skip. Before the first window.
    void watch(PhaseWatcher& watcher) { stages_.watchers().watch(watcher); }
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

    bool may_fold() const override;
    void fold(step::Folding& folding) override { engine_.view().fold(folding); }
    bool alike(const std::vector<step::FlowPair>& flows, bool fresh) override {
        return copies_.alike(flows, fresh, *deferral_);
    }
    bool may_fold_inside(const std::vector<FlowSlot>& flows) override;
    bool may_stay_folded(const std::vector<step::FlowPair>& flows) override;
    void unfolded(const std::vector<step::FlowPair>& flows) override;

  private:
    void changed(std::uint32_t id, Tick now);
    void close(std::uint32_t id, Tick now, PhaseEnd why);
    void leave_group(PartitionId from, const PartitionSet::Exit& exit, Tick now);
    void look(GroupState& state, Tick at);
    void skip_back(std::uint32_t id, Tick now);
    void run_calls(Tick at);

    PhaseConfig config_;
    Tick stop_;
    bool draws_;  ///< what a skip does to a flow may differ between flows that have done the same
    PhaseEngine& engine_;
    const step::FlowPartitions& partitions_;
    GroupTable groups_;
    PhaseReport report_;
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
