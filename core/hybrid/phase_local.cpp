// SPDX-License-Identifier: Apache-2.0
/// Local phases: groups are flows that share data ports, and ACKs are streams.
#include <algorithm>

#include "core/hybrid/phase_state.h"
#include "core/partition/flow_resources.h"

namespace sluice::hybrid {

void PhaseController::disturb_neighbours(const std::vector<PortId>& acks, Tick now) {
    for (const PortId port : acks) {
        disturb(partitions_.sends_by(port), now);
    }
}

/// What a group's ports leave to its data has changed.
void PhaseController::disturb(PartitionId id, Tick now) {
    if (id == kNone) {
        return;
    }
    if (groups_[id]->skipping) {
        skip_back(*groups_[id], now, PhaseEnd::acks_changed);
    }
    changed(id, now);
}

void PhaseController::disturbed(PortId port, Tick now) {
    PartitionId id = partitions_.set().partition_of_resource(host_resource(engine_.node_of(port)));
    id = id == kNone ? partitions_.sends_by(port) : id;
    if (id != kNone && groups_[id]->skipping) {
        State& state = *groups_[id];
        skip_back(state, now, PhaseEnd::flow_entered);
        set_cut(state, next_on_grid(now + state.rtt, state.period));
    }
    engine_.decide(port, now);
}

void PhaseController::enter_streams(FlowSlot flow, Tick now) {
    if (acks_ != nullptr) {
        acks_->enter(flow, engine_.tracks(flow), now);
    }
}

void PhaseController::leave_streams(FlowSlot flow, Tick now) {
    if (acks_ == nullptr) {
        return;
    }
    const std::vector<PortId> crossed = acks_->leave(flow);
    if (left_cut_ == kNever) {
        // The window that `now` is in has ended by then, however time is cut.
        left_cut_ = next_on_grid(now + engine_.lookahead(), std::max<Tick>(quiet_time_ / 4, 1));
    }
    if (config_.wake == Wake::neighbours) {
        disturb_neighbours(crossed, now);
    }
}

void PhaseController::measure_streams(const State& state, Tick at) {
    if (acks_ == nullptr) {
        return;
    }
    for (const FlowSlot flow : partitions_.set().flows(state.id)) {
        if (engine_.active(flow)) {
            acks_->measure(flow, at);
        }
    }
    wake_overrun(at);
}

/// No port carries more than its capacity, asleep or not.
void PhaseController::wake_overrun(Tick at) {
    for (const PortId port : acks_->take_overrun()) {
        disturb(partitions_.sends_by(port), at);
    }
}

void PhaseController::drop_left_streams(Tick at) {
    acks_->drop_left(at);
    left_cut_ = kNever;
}

}  // namespace sluice::hybrid
