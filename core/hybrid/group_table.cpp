// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_table.h"

#include <algorithm>
#include <utility>

namespace sluice::hybrid {

GroupState& GroupTable::open(std::uint32_t id, Tick now) {
    if (groups_.size() <= id) {
        groups_.resize(id + 1);
        phases_.resize(id + 1);
    }
    if (groups_[id] == nullptr) {
        groups_[id] = std::make_unique<GroupState>(config_.detector);
        phases_[id] = groups_[id].get();
        groups_[id]->id = id;
        groups_[id]->since = now;
        groups_[id]->born = now;
    }
    return *groups_[id];
}

void GroupTable::drop(std::uint32_t id) {
    set_cut(*groups_[id], kNever);
    groups_[id].reset();
    phases_[id] = nullptr;
}

void GroupTable::changed(GroupState& state, Tick now, bool rests) {
    state.changed = now;
    state.parted = false;
    const bool awaited = state.dirty && state.cut != kNever;
    if (early_ > 0 && !rests) {
        state.dirty = true;
        set_cut(state, awaited ? std::min(state.cut, now + early_) : now + early_);
        return;
    }
    if (awaited && !rests) {
        return;  // it will be looked at; there the time since `changed` is asked for
    }
    state.dirty = true;
    set_cut(state, rests ? kNever : settled_after(now));
}

void GroupTable::set_cut(GroupState& state, Tick at) {
    if (state.cut != at) {
        state.cut = at;
        if (at != kNever) {
            cuts_.emplace(at, state.id);
        }
        drop_old_cuts();
    }
}

std::vector<std::uint32_t> GroupTable::take_next() {
    std::vector<std::uint32_t> groups;
    for (const Tick at = next_cut(); !cuts_.empty() && cuts_.top().first == at; cuts_.pop()) {
        groups.push_back(cuts_.top().second);
    }
    return groups;
}

void GroupTable::drop_old_cuts() {
    while (!cuts_.empty() && !is_due(cuts_.top().second, cuts_.top().first)) {
        cuts_.pop();
    }
}

}  // namespace sluice::hybrid
