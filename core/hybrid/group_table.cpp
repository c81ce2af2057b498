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

void GroupTable::set_exact_cut(GroupState& state, Tick at) {
    if (state.cut != at) {
        state.cut = at;
        if (at != kNever) {
            cuts_[at].push_back(state.id);
        }
        drop_old_cuts();
    }
}

std::vector<std::uint32_t> GroupTable::take_next() {
    std::vector<std::uint32_t> groups = std::move(cuts_.begin()->second);
    cuts_.erase(cuts_.begin());
    std::sort(groups.begin(), groups.end());
    return groups;
}

void GroupTable::drop_old_cuts() {
    while (!cuts_.empty()) {
        const Tick at = cuts_.begin()->first;
        std::vector<std::uint32_t>& groups = cuts_.begin()->second;
        while (!groups.empty() && !is_due(groups.back(), at)) {
            groups.pop_back();
        }
        if (!groups.empty()) {
            return;
        }
        cuts_.erase(cuts_.begin());
    }
}

}  // namespace sluice::hybrid
