// SPDX-License-Identifier: Apache-2.0
/// Which groups are of one kind, so that one may do what another one has done (trajectory_stage.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/calibration/group_kind.h"
#include "core/hybrid/group_state.h"
#include "core/hybrid/network_view.h"
#include "core/memo/conflict_graph.h"

namespace sluice::hybrid {

class TrajectoryKinds {
  public:
    /// Most flows of a group that is recorded.
    static constexpr std::size_t kMostFlows = 128;
    /// Of flows alone: the furthest kind that one may follow (distance()).
    static constexpr std::int64_t kNear = 4;

    /// Both must outlive this.
    TrajectoryKinds(NetworkView& view, NearFacts& facts) : view_(view), facts_(facts) {}

    /// False: what such a group does is not to be told from what others do, nor from its past.
    bool may_form(const GroupState& state) const;
    /// NICs are what limits these flows, and no two go from one NIC to the same port.
    bool is_exchange(const std::vector<FlowSlot>& flows) const;
    bool is_fresh(FlowSlot flow) const;
    std::int64_t new_flows(const GroupState& state) const;
    /// Lists a group's flows as they are at `at`, in TrajectoryRecord::flows.
    void list_flows(GroupState& state, Tick at) const;
    /// Sets what a group's kind is made of. Needs the flows' aims, and puts them in an order that all of the kind share.
    void name(GroupState& state);
    /// Of a group that has been named. Flows alone are told apart by what they aim at, too, and by the ACKs that were in their
    /// way as they began.
    GroupKey key_of(const TrajectoryRecord& record) const;
    /// Of a flow alone from the kind `key`, which is of the same shape: in halves of an aim's class and in ACKs' classes.
    std::int64_t distance(const TrajectoryRecord& record, const GroupKey& key) const;
    /// The same once both have settled: whatever state its law began in.
    std::int64_t distance_settled(const TrajectoryRecord& record, const GroupKey& key) const;
    /// Of a group, as it begins to be recorded.
    Settling settling_of(const GroupState& state) const;
    /// True if a young flow, which somebody's last packets may have met, has done what `other` did.
    bool is_like(const GroupState& state, const Trajectory& other) const;

  private:
    /// Ticks in which the rates of a large group's flows come to one (congestion::convergence_trips()).
    double convergence_time(const GroupState& state) const;
    void append_law(FlowSlot flow, std::vector<std::int64_t>& facts);
    GroupKey shape_of(GroupState& state);
    bool has_just_begun(const TrajectoryRecord& record, FlowSlot flow) const;
    memo::ConflictGraph graph_of(const GroupState& state);
    GroupKey shape_of_large(GroupState& state);
    std::int64_t ack_class(FlowSlot flow) const;
    void append_state(GroupState& state) const;

    NetworkView& view_;
    NearFacts& facts_;
};

}  // namespace sluice::hybrid
