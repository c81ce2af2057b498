// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_members.h"

namespace sluice::hybrid {

void GroupMembers::changed(std::uint32_t id, Tick now) {
    GroupState& state = groups_[id];
    bool rests = false;
    if (deferral_ != nullptr) {
        rests = deferral_->rests(partitions_.set().flows(id));
        state.whole = deferral_->is_whole(partitions_.set().flows(id));
    }
    groups_.changed(state, now, rests);
}

void GroupMembers::close(std::uint32_t id, Tick now, PhaseEnd why) {
    report_.end_unsteady(groups_[id], now, why);
    groups_.drop(id);
}

void GroupMembers::enter(const PartitionSet::Entry& entry, Tick now) {
    if (config_.scope == PhaseScope::partition) {
        for (const PartitionId id : entry.absorbed) {
            close(id, now, PhaseEnd::merged);
        }
    }
    GroupState& state = groups_.open(groups_.id_of(entry.partition), now);
    if (state.since == now) {
        ++state.flows_at_start;
    }
}

void GroupMembers::leave(PartitionId from, const PartitionSet::Exit& exit, Tick now) {
    if (config_.scope == PhaseScope::network) {
        // Nothing leaves while everything is paused: the group is unsteady.
        partitions_.set().count() == 0 ? close(0, now, PhaseEnd::idle) : changed(0, now);
        return;
    }
    if (exit.partition == kNone) {
        close(from, now, PhaseEnd::idle);
        return;
    }
    changed(exit.partition, now);
    for (const PartitionId id : exit.split_off) {
        groups_.open(id, now).flows_at_start =
            static_cast<std::uint32_t>(partitions_.set().flows(id).size());
        changed(id, now);
    }
}

}  // namespace sluice::hybrid
