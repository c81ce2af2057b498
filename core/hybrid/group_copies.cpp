// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_copies.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/sorted.h"

namespace sluice::hybrid {

/// The group that is executed for `state`: itself, unless it is a copy.
GroupState& GroupCopies::executed_for(const GroupState& state) const {
    const FlowSlot flow = partitions_.set().flows(state.id).front();
    return groups_[partitions_.set().partition_of(view_.executed(flow))];
}

void GroupCopies::list_copies(GroupState& lead) {
    copies_.clear();
    view_.folding()->list_followers(view_.executed(partitions_.set().flows(lead.id).front()),
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
    const std::pair<std::uint64_t, std::uint64_t> generations = {view_.folding()->generation(),
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

/// Of ports of flows that are in partitions; where one has several copies, the last of them.
Names GroupCopies::paired_ports(const std::vector<step::FlowPair>& flows) {
    Names ports;
    const auto pair_up = [&](const std::vector<PortId>& leader, const std::vector<PortId>& image) {
        for (std::size_t i = 0; i < std::min(leader.size(), image.size()); ++i) {
            if (copy_of_.size() <= leader[i]) {
                copy_of_.resize(leader[i] + 1, kNone);
            }
            if (copy_of_[leader[i]] == kNone) {
                ports.emplace_back(leader[i], kNone);
            }
            copy_of_[leader[i]] = image[i];
        }
    };
    // Ways lie scattered in memory.
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const step::FlowPair& pair = flows[i];
        if (i + kAhead < flows.size()) {
            const step::Footprint& way = view_.tracks(flows[i + kAhead].image);
            SLUICE_PREFETCH(way.data.data());
            SLUICE_PREFETCH(way.acks.data());
        }
        if (partitions_.contains(pair.leader) && partitions_.contains(pair.image)) {
            pair_up(view_.tracks(pair.leader).data, view_.tracks(pair.image).data);
            pair_up(view_.tracks(pair.leader).acks, view_.tracks(pair.image).acks);
        }
    }
    std::sort(ports.begin(), ports.end());
    for (auto& [leader, image] : ports) {
        image = std::exchange(copy_of_[leader], kNone);
    }
    return ports;
}

std::map<std::uint32_t, std::uint32_t> GroupCopies::paired_groups(
    const std::vector<step::FlowPair>& flows) const {
    std::map<std::uint32_t, std::uint32_t> groups;
    std::map<std::uint32_t, std::uint32_t> back;
    for (const step::FlowPair& pair : flows) {
        const PartitionId lead = partitions_.set().partition_of(pair.leader);
        const PartitionId image = partitions_.set().partition_of(pair.image);
        const bool first = groups.insert({lead, image}).second;
        const bool first_back = back.insert({image, lead}).second;
        if (first != first_back || groups[lead] != image || back[image] != lead ||
            (lead == kNone) != (image == kNone)) {
            return {};
        }
    }
    groups.erase(kNone);
    const bool whole = std::all_of(groups.begin(), groups.end(), [&](const auto& pair) {
        return partitions_.set().flows(pair.first).size() ==
               partitions_.set().flows(pair.second).size();
    });
    return whole ? groups : std::map<std::uint32_t, std::uint32_t>{};
}

bool GroupCopies::alike(const std::vector<step::FlowPair>& flows, bool fresh,
                        const Deferral& deferral) {
    std::vector<FlowSlot> images;
    images.reserve(flows.size());
    for (const step::FlowPair& pair : flows) {
        images.push_back(pair.image);
    }
    std::vector<FlowSlot> sorted = images;
    view_.sort(sorted);
    const Names ports = paired_ports(flows);
    const bool ordered = std::adjacent_find(ports.begin(), ports.end(), [](auto& a, auto& b) {
                             return a.second >= b.second;
                         }) == ports.end();
    const std::map<std::uint32_t, std::uint32_t> groups = paired_groups(flows);
    return sorted == images && ordered && !groups.empty() &&
           std::all_of(groups.begin(), groups.end(), [&](const auto& pair) {
               if (!deferral.is_whole(partitions_.set().flows(pair.first)) ||
                   !deferral.is_whole(partitions_.set().flows(pair.second))) {
                   return false;
               }
               const GroupState& lead = groups_[pair.first];
               const GroupState& image = groups_[pair.second];
               const auto phase = [](const GroupState& state) {
                   return std::tie(state.dirty, state.changed, state.cut, state.since, state.born,
                                   state.flows_at_start, state.skipping);
               };
               // What a detector has seen of a group is forgotten when its flows are listed anew.
               return phase(lead) == phase(image) && (!fresh || lead.dirty);
           });
}

void GroupCopies::unfolded(const std::vector<step::FlowPair>& flows) {
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
                ports = paired_ports(flows);
            }
            take_over(groups_[image], groups_[lead], renamed, ports);
        }
    }
}

/// `state` is what `lead` is, by its own names.
void GroupCopies::take_over(GroupState& state, const GroupState& lead, const Names& flows,
                            const Names& ports) {
    const std::uint32_t id = state.id;
    state = lead;
    state.id = id;
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
