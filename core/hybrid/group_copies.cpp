// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_copies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/fold/folds.h"
#include "core/sorted.h"

namespace sluice::hybrid {

/// The group that is executed for `state`: itself, unless it is a copy.
GroupState& GroupCopies::executed_for(const GroupState& state) const {
    const FlowSlot flow = partitions_.set().flows(state.id).front();
    return groups_[partitions_.set().partition_of(view_.executed(flow))];
}

void GroupCopies::list_copies(GroupState& lead) {
    copies_.clear();
    view_.folds()->list_followers(view_.executed(partitions_.set().flows(lead.id).front()),
                                  copies_);
    lead.copies.clear();
    for (const FlowSlot flow : copies_) {  // several may be of one, or of the group itself
        const PartitionId id = partitions_.set().partition_of(flow);
        if (id != lead.id && (lead.copies.empty() || lead.copies.back() != id)) {
            lead.copies.push_back(id);
        }
    }
    sort_unique(lead.copies);
}

GroupState& GroupCopies::begin(GroupState& state) {
    GroupState& lead = executed_for(state);
    const std::pair<std::uint64_t, std::uint64_t> generations = {view_.folds()->generation(),
                                                                 partition_generation_};
    if (lead.copies_of != generations) {
        list_copies(lead);
        lead.copies_of = generations;
    }
    report_.begin_copies(lead.copies);
    for (const std::uint32_t id : report_.copies()) {
        const GroupState& copy = groups_[id];
        if (copy.cut != lead.cut || copy.skipping != lead.skipping) {
            throw InternalError("a partition is not what the one that it follows is");
        }
    }
    return lead;
}

void GroupCopies::end(const GroupState& lead) {
    for (const std::uint32_t id : report_.copies()) {
        follow(groups_[id], lead);
    }
    report_.end_copies();
}

/// As far as a group's state is kept while it is a copy.
void GroupCopies::follow(GroupState& state, const GroupState& lead) {
    state.dirty = lead.dirty;
    state.changed = lead.changed;
    state.since = lead.since;
    state.flows_at_start = lead.flows_at_start;
    state.skipping = lead.skipping;
    state.until = lead.until;
    groups_.set_cut(state, lead.cut);
}

void GroupCopies::make_way(std::uint32_t id, Tick now) {
    if (groups_.is_skipping(id)) {
        together(groups_[id], [&](GroupState& lead) { executor_.make_way(lead, now); });
    }
}

void GroupCopies::take_up(const step::FlowPairs& flows) {
    Names renamed;
    Names ports;
    std::map<std::uint32_t, std::uint32_t> groups;
    for (const step::FlowPair& pair : flows) {
        groups.insert({partitions_.set().partition_of(pair.leader),
                       partitions_.set().partition_of(pair.image)});
    }
    groups.erase(kNone);
    for (const auto& [lead, image] : groups) {
        if (lead == image) {
            if (groups_[image].skipping) {
                executor_.pause_hosts(groups_[image]);
            }
        } else if (image != kNone && !groups_[image].dirty) {
            if (renamed.empty()) {
                for (const step::FlowPair& pair : flows) {
                    renamed.emplace_back(pair.leader, pair.image);
                }
                std::sort(renamed.begin(), renamed.end());
                ports = port_names_.of(partitions_, flows);
            }
            take_over(groups_[image], groups_[lead], renamed, ports);
        }
    }
}

/// `state` is what `lead` is, by its own names.
void GroupCopies::take_over(GroupState& state, const GroupState& lead, const Names& flows,
                            const Names& ports) {
    const std::uint32_t id = state.id;
    const bool whole = state.whole;
    state = lead;
    state.id = id;
    state.whole = whole;
    for (FlowSlot& flow : state.group.flows) {
        flow = copy_of(flows, flow);
    }
    for (PortId& port : state.queue_ports) {
        port = copy_of(ports, port);
    }
    for (SkipStage* const stage : stages_) {
        stage->rename(state, flows, ports);
    }
    if (state.has_extent) {
        sampler_.list_extent(state);
    }
    if (state.skipping) {
        executor_.pause_hosts(state);
    }
}

}  // namespace sluice::hybrid
