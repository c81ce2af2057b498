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
#include "core/hybrid/phase_watcher.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/carried_trajectories.h"
#include "core/hybrid/stages/port_loads.h"
#include "core/hybrid/stages/trajectory_kinds.h"

namespace sluice::hybrid {

class TrajectoryStage final : public SkipStage {
  public:
    /// All references must outlive this. `measured`: rates of skips are measured. If not, the stage does nothing.
    TrajectoryStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                    bool measured);

    /// What is followed.
    Trajectories& known() { return known_; }
    /// False: groups neither are recorded nor follow.
    bool is_active() const { return active_; }
    /// A group has formed that is neither recorded nor follows: it has more flows than TrajectoryKinds::kMostFlows.
    static void leave_out(GroupState& state);
    /// A group has formed (GroupState::changed), and has been listed. All that has met it by then is there. `may_be_young`: a
    /// flow alone may be on the way of one that has been alone from its beginning.
    void form(GroupState& state, Tick at, bool may_be_young = true);
    /// True once of a group that has been executed so far and may follow those that are being recorded instead of it.
    bool joins(GroupState& state) const;
    /// Chooses what a group follows from `at` on. True if there is something: a skip is to be planned.
    bool follow(GroupState& state, Tick at);
    /// Of a group whose skip has ended as planned at `at`: flows whose last byte has left by then, and whose ends are predicted
    /// (PhaseEngine::tell()).
    std::vector<ToldEnd> ends(const GroupState& state, Tick at) const;
    /// Flows of a group that has formed at `at` go on with what each has followed before, though others have ended. False:
    /// one has followed nothing, or not long enough.
    bool carry_on(GroupState& state, Tick at);
    /// They do not, as they have come to where it ended.
    void forget(const GroupState& state);
    /// Links fail or are repaired: packets may be lost, and from here on ends are executed.
    void links_change() { predicts_ends_ = false; }
    /// A group's skip has begun to follow, and its laws aim at something else by now.
    bool is_outdated(GroupState& state, Tick at) const;
    /// A flow's mean rate over the first `first` ticks of the present skip, divided by its mean over the whole skip; 1 where
    /// nothing is followed.
    double mean_ratio(const GroupState& state, std::size_t flow, Tick first) const;

    void list(GroupState& state, const steady::GroupFacts& facts) override;
    void observe(GroupState& state, Tick at) override;
    void limit(SkipPlan& plan) override;
    void settle(GroupState& state, Tick dt) override;
    /// A group goes on by packets from `at` on. Its laws learn nothing until what is under way is what they send by now; returns
    /// how long that takes.
    Tick refill(const GroupState& state, Tick at);
    Tick executed_before(GroupState& state, Tick now) override;
    void shorten(GroupState& state, Tick dt) override;
    std::int64_t restore(GroupState& state) override;

  private:
    double left(const GroupState& state, const TrajectoryFlow& flow) const;
    std::vector<double> aims_of(GroupState& state, Tick at,
                                std::vector<PortId>* limits = nullptr) const;
    bool follow_aims(GroupState& state, const std::vector<double>& aims, Tick at) const;
    std::uint32_t kind_of(const TrajectoryRecord& record);
    void choose(GroupState& state, Tick at);
    void choose_large(TrajectoryRecord& record, std::uint32_t kind, std::uint64_t draw) const;
    std::shared_ptr<const Trajectory> draw_small(const GroupState& state, std::uint32_t kind,
                                                 std::uint64_t draw, Tick at);
    double known_until(const TrajectoryRecord& record, const TrajectoryFlow& flow) const;
    double leaves_shared_port(const GroupState& state, const TrajectoryFlow& flow) const;
    double end_of(const GroupState& state, TrajectoryFlow& flow) const;
    void go_on(GroupState& state, const std::vector<PortId>& limits, Tick at) const;
    bool has_same_shares(GroupState& state, Tick at) const;
    bool may_settle(const GroupState& state, const Settling& settling) const;
    void complete(TrajectoryRecord& record, Tick at);
    void follow_own(TrajectoryRecord& record, Tick at);
    void carry_own(const GroupState& state, std::uint32_t kind);
    void record(GroupState& state, Tick at);
    void record_flow(GroupState& state, TrajectoryFlow& flow, std::size_t k, double aim, Tick at);
    void keep(GroupState& state);

    PhaseEngine& engine_;
    NetworkView& view_;
    PortLoads& loads_;
    Trajectories known_;
    TrajectoryKinds kinds_;
    bool active_;
    bool predicts_ends_ = true;
    CarriedTrajectories carried_;
};

}  // namespace sluice::hybrid
