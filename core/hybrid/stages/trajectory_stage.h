// SPDX-License-Identifier: Apache-2.0
/// Skips of groups that do as others of their kind have done (core/calibration/trajectories.h), from the instant on at which
/// they form. Only where ACKs are no packets, and only under a law whose aim is known (PortLoads::fair_aims(): HPCC).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/calibration/trajectories.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/port_loads.h"

namespace sluice::hybrid {

class TrajectoryStage final : public SkipStage {
  public:
    /// All references must outlive this. `measured`: rates of skips are measured. If not, the stage does nothing.
    TrajectoryStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                    bool measured);

    /// False: groups neither are recorded nor follow.
    bool is_active() const { return active_; }
    /// Most flows of a group that is recorded.
    static constexpr std::size_t kMostFlows = 128;
    /// A group of more flows has formed.
    static void leave_out(GroupState& state);
    /// A group has formed (GroupState::changed), and has been listed. All that has met it by then is there.
    void form(GroupState& state, Tick at);
    /// True once of a group that has been executed so far and may follow those that are being recorded instead of it.
    static bool joins(GroupState& state) { return std::exchange(state.trajectory.may_join, false); }
    /// Chooses what a group follows from `at` on. True if there is something: a skip is to be planned.
    bool follow(GroupState& state, Tick at);
    /// A group's skip has begun to follow, and its laws aim at something else by now.
    bool is_outdated(const GroupState& state, Tick at) const;
    /// A flow's mean rate over the first `first` ticks of the present skip, divided by its mean over the whole skip; 1 where
    /// nothing is followed.
    double mean_ratio(const GroupState& state, std::size_t flow, Tick first) const;

    void list(GroupState& state, const steady::GroupFacts& facts) override;
    void observe(GroupState& state, Tick at) override;
    void limit(SkipPlan& plan) override;
    void settle(GroupState& state, Tick dt) override;
    void shorten(GroupState& state, Tick dt) override;
    std::int64_t restore(GroupState& state) override;

  private:
    bool may_form(const GroupState& state) const;
    void list_flows(GroupState& state, Tick at) const;
    GroupKey shape_of(const GroupState& state) const;
    bool has_just_begun(const TrajectoryRecord& record, FlowSlot flow) const;
    memo::ConflictGraph graph_of(const GroupState& state) const;
    GroupKey shape_of_large(GroupState& state) const;
    std::int64_t new_flows(const GroupState& state) const;
    bool is_exchange(const GroupState& state) const;
    bool is_fresh(FlowSlot flow) const;
    double left(const GroupState& state, const TrajectoryFlow& flow) const;
    std::vector<double> aims_of(const GroupState& state, Tick at) const;
    bool take_aims(GroupState& state, Tick at) const;
    Tick rise_time(const GroupState& state) const;
    bool follow_aims(GroupState& state, Tick at) const;
    std::uint32_t kind_of(const TrajectoryRecord& record);
    void choose(GroupState& state, Tick at);
    void take_skipped(GroupState& state) const;
    void choose_large(TrajectoryRecord& record, std::uint32_t kind, std::uint64_t draw) const;
    double known_to(const TrajectoryRecord& record) const;
    std::shared_ptr<const Trajectory> draw_near(const GroupState& state);
    std::int64_t ack_class(FlowSlot flow) const;
    std::uint64_t draw_of(const GroupState& state) const;
    bool is_like(const GroupState& state, const Trajectory& other) const;
    void record(GroupState& state, Tick at);
    void record_flow(GroupState& state, TrajectoryFlow& flow, std::size_t k, double aim, Tick at);
    void keep(TrajectoryRecord& record);

    PhaseEngine& engine_;
    NetworkView& view_;
    PortLoads& loads_;
    bool active_;
    Trajectories known_;
};

}  // namespace sluice::hybrid
