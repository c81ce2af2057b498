// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/ack_stage.h"

#include <algorithm>

#include "core/hybrid/stages/stage_list.h"
#include "core/partition/flow_resources.h"

namespace sluice::hybrid {

void AckStage::enter(FlowSlot flow, Tick now) {
    if (acks_ != nullptr) {
        acks_->enter(flow, view_.tracks(flow), now);
    }
}

void AckStage::leave(FlowSlot flow, Tick now) {
    if (acks_ == nullptr) {
        return;
    }
    acks_->leave(flow);
    if (left_cut_ == kNever) {
        // The window that `now` is in has ended by then, however time is cut.
        left_cut_ = groups_.on_coarse_grid(now + view_.lookahead());
    }
}

void AckStage::measure(const GroupState& state, Tick at) {
    if (acks_ == nullptr) {
        return;
    }
    for (const FlowSlot flow : partitions_.set().flows(state.id)) {
        if (view_.active(flow)) {
            acks_->measure(flow, at);
        }
    }
    wake_overrun(at);
}

void AckStage::at_cut(Tick at) {
    if (left_cut_ <= at) {
        acks_->drop_left(at);
        left_cut_ = kNever;
    }
    while (!starting_.empty() && starting_.begin()->first <= at) {
        const FlowSlot flow = starting_.begin()->second;
        starting_.erase(starting_.begin());
        start(flow, at);
    }
}

/// The first ACKs of a flow arrive. If it does not skip any more, it is measured.
void AckStage::start(FlowSlot flow, Tick at) {
    const PartitionId id =
        partitions_.contains(flow) ? partitions_.set().partition_of(flow) : kNone;
    if (id == kNone || !groups_.is_skipping(id)) {
        return;
    }
    const GroupState& state = groups_[id];
    const auto found = std::find(state.group.flows.begin(), state.group.flows.end(), flow);
    if (found != state.group.flows.end()) {
        const auto place = static_cast<std::size_t>(found - state.group.flows.begin());
        acks_->hold(flow, state.rate[place], at);
        wake_overrun(at);
    }
}

void AckStage::wake_port(PortId port, Tick now) {
    PartitionId id = partitions_.set().partition_of_resource(host_resource(view_.node_of(port)));
    // A flow starts at the host. Or a PFC frame is to leave: it is queued already, and would leave too early if the past were
    // executed.
    const bool starts = id != kNone;
    id = starts ? id : partitions_.sends_by(port);
    if (id != kNone && groups_[id].skipping) {
        GroupState& state = groups_[id];
        if (starts) {
            executor_.make_way(state, now);
        } else {
            executor_.skip_back(state, now, PhaseEnd::flow_entered);
        }
        groups_.set_cut(state, next_on_grid(now + state.rtt, state.period));
    }
}

std::vector<PortId> AckStage::take_changed() {
    return acks_ == nullptr ? std::vector<PortId>{} : acks_->take_changed();
}

void AckStage::finish() {
    if (acks_ == nullptr) {
        return;
    }
    for (const PartitionId id : partitions_.set().partitions()) {
        for (const FlowSlot flow : partitions_.set().flows(id)) {
            acks_->count(flow);
        }
    }
}

void AckStage::fall_asleep(GroupState& state, Tick at) {
    if (acks_ == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const FlowSlot flow = state.group.flows[i];
        const Tick first = view_.start(flow) + view_.base_rtt(flow);
        if (at < first) {
            starting_.emplace(groups_.on_grid(first), flow);
        } else {
            acks_->hold(flow, state.rate[i], at);
        }
    }
    acks_->set_asleep(state.group, true, at);
    wake_overrun(at);
}

void AckStage::wake(GroupState& state) {
    if (acks_ != nullptr) {
        acks_->set_asleep(state.group, false, state.until);
    }
}

/// No port carries more than its capacity, asleep or not.
void AckStage::wake_overrun(Tick at) {
    for (const PortId port : acks_->take_overrun()) {
        disturb(partitions_.sends_by(port), at);
    }
}

/// What a group's ports leave to its data has changed.
void AckStage::disturb(PartitionId id, Tick now) {
    if (id == kNone) {
        return;
    }
    if (groups_[id].skipping && groups_[id].trajectory.follows) {
        return;  // it will go on with what it is left (PhaseController::renew_followers())
    }
    if (groups_[id].skipping) {
        executor_.skip_back(groups_[id], now, PhaseEnd::acks_changed);
    }
    groups_.changed(groups_[id], now, false);
}

std::unique_ptr<SkipStage> make_ack_stage(StageContext& context) {
    auto stage = std::make_unique<AckStage>(context.view(), context.parts.partitions,
                                            context.parts.groups, context.executor);
    context.acks = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
