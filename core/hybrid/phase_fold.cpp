// SPDX-License-Identifier: Apache-2.0
/// Groups that are copies of each other, of which one is executed (core/clocks/folding.h): what is done to
/// that one is done to all, and each has its own records of it.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/clocks/folding.h"
#include "core/error.h"
#include "core/hybrid/phase_episodes.h"
#include "core/hybrid/phase_state.h"
#include "core/sorted.h"

namespace sluice::hybrid {

namespace {

constexpr std::uint64_t kTicksPerSecond = 1'000'000'000'000U;

std::uint32_t follower_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& names,
                          std::uint32_t lead) {
    const auto found = std::lower_bound(names.begin(), names.end(), std::make_pair(lead, 0U));
    if (found == names.end() || found->first != lead) {
        throw InternalError("a group that follows has no name for what the other one has");
    }
    return found->second;
}

}  // namespace

void FlowTime::add(std::uint64_t flows, Tick each) {
    ticks += flows * static_cast<std::uint64_t>(each);
    seconds += ticks / kTicksPerSecond;
    ticks %= kTicksPerSecond;
}

double FlowTime::in_seconds() const {
    return static_cast<double>(seconds) +
           static_cast<double>(ticks) / static_cast<double>(kTicksPerSecond);
}

bool PhaseController::may_fold() const {
    return config_.scope == PhaseScope::partition && acks_ == nullptr;
}

void PhaseController::fold(step::Folding& folding) {
    folding_ = &folding;
    engine_.fold(folding);
}

/// The group that is executed for `state`: itself, unless it follows one.
PhaseController::State& PhaseController::leader_of(State& state) {
    const std::vector<FlowSlot>& flows = partitions_.set().flows(state.id);
    return *groups_[partitions_.set().partition_of(folding_->leader_of(flows.front()))];
}

void PhaseController::list_followers(State& lead) {
    following_.clear();
    folding_->list_followers(folding_->leader_of(partitions_.set().flows(lead.id).front()),
                             following_);
    lead.followers.clear();
    for (const FlowSlot flow : following_) {  // several may be of one, or of the leader's own
        const PartitionId id = partitions_.set().partition_of(flow);
        if (id != lead.id && (lead.followers.empty() || lead.followers.back() != id)) {
            lead.followers.push_back(id);
        }
    }
    sort_unique(lead.followers);
}

/// Does to the group that is executed for `state` what `act` does, and lets those that follow it follow.
template <class Act>
void PhaseController::together(State& state, Act&& act) {
    if (folding_ == nullptr) {
        act(state);
        return;
    }
    State& lead = leader_of(state);
    const std::pair<std::uint64_t, std::uint64_t> generations = {folding_->generation(),
                                                                 partition_generation_};
    if (lead.followers_of != generations) {
        list_followers(lead);
        lead.followers_of = generations;
    }
    followers_ = lead.followers;
    for (const PartitionId id : followers_) {
        const State& follower = *groups_[id];
        if (follower.cut != lead.cut || follower.skipping != lead.skipping) {
            throw InternalError("a partition is not what the one that it follows is");
        }
    }
    act(lead);
    for (const std::uint32_t id : followers_) {
        follow(*groups_[id], lead);
    }
    followers_.clear();
}

void PhaseController::look_together(State& state, Tick at) {
    together(state, [&](State& lead) { look(lead, at); });
}

void PhaseController::skip_back_together(State& state, Tick now, PhaseEnd why) {
    together(state, [&](State& lead) { skip_back(lead, now, why); });
}

/// As far as a group's state is kept while it follows another.
void PhaseController::follow(State& state, const State& lead) {
    state.dirty = lead.dirty;
    state.changed = lead.changed;
    state.since = lead.since;
    state.flows_at_start = lead.flows_at_start;
    state.skipping = lead.skipping;
    state.until = lead.until;
    set_cut(state, lead.cut);
}

/// Notes what happened to a group, and in the same way to those that follow it.
void PhaseController::emit(PhaseRecord record) {
    log_.add(record);
    for (const std::uint32_t id : followers_) {
        record.partition = id;
        log_.add(record);
    }
}

/// Of ports of flows that are in partitions; where several follow one, the last of them.
PhaseController::Names PhaseController::paired_ports(const std::vector<step::FlowPair>& flows) {
    Names ports;
    const auto pair_up = [&](const std::vector<PortId>& leader, const std::vector<PortId>& image) {
        for (std::size_t i = 0; i < std::min(leader.size(), image.size()); ++i) {
            if (image_of_.size() <= leader[i]) {
                image_of_.resize(leader[i] + 1, kNone);
            }
            if (image_of_[leader[i]] == kNone) {
                ports.emplace_back(leader[i], kNone);
            }
            image_of_[leader[i]] = image[i];
        }
    };
    // Ways lie scattered in memory.
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const step::FlowPair& pair = flows[i];
        if (i + kAhead < flows.size()) {
            const step::Footprint& way = engine_.tracks(flows[i + kAhead].image);
            SLUICE_PREFETCH(way.data.data());
            SLUICE_PREFETCH(way.acks.data());
        }
        if (partitions_.contains(pair.leader) && partitions_.contains(pair.image)) {
            pair_up(engine_.tracks(pair.leader).data, engine_.tracks(pair.image).data);
            pair_up(engine_.tracks(pair.leader).acks, engine_.tracks(pair.image).acks);
        }
    }
    std::sort(ports.begin(), ports.end());
    for (auto& [leader, image] : ports) {
        image = std::exchange(image_of_[leader], kNone);
    }
    return ports;
}

/// Each group of `flows`, and the one that follows it; empty if they do not correspond.
std::map<std::uint32_t, std::uint32_t> PhaseController::paired_groups(
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

bool PhaseController::alike(const std::vector<step::FlowPair>& flows, bool fresh) {
    std::vector<FlowSlot> images;
    images.reserve(flows.size());
    for (const step::FlowPair& pair : flows) {
        images.push_back(pair.image);
    }
    std::vector<FlowSlot> sorted = images;
    engine_.sort(sorted);
    const Names ports = paired_ports(flows);
    const bool ordered = std::adjacent_find(ports.begin(), ports.end(), [](auto& a, auto& b) {
                             return a.second >= b.second;
                         }) == ports.end();
    const std::map<std::uint32_t, std::uint32_t> groups = paired_groups(flows);
    return sorted == images && ordered && !groups.empty() &&
           std::all_of(groups.begin(), groups.end(), [&](const auto& pair) {
               if (!is_whole(pair.first) || !is_whole(pair.second)) {
                   return false;
               }
               const State& lead = *groups_[pair.first];
               const State& image = *groups_[pair.second];
               const auto phase = [](const State& state) {
                   return std::tie(state.dirty, state.changed, state.cut, state.since, state.born,
                                   state.flows_at_start, state.skipping);
               };
               // What a detector has seen of a group is forgotten when its flows are listed anew.
               return phase(lead) == phase(image) && (!fresh || lead.dirty);
           });
}

/// What is drawn for each flow, or placed in one queue, is not the same for all that do the same, nor what a source
/// of rates makes of them to the last digit.
bool PhaseController::may_fold_inside(const std::vector<FlowSlot>& flows) {
    if (queues_.is_there() || rates_ != nullptr || flows.empty()) {
        return false;
    }
    const PartitionId id = partitions_.set().partition_of(flows.front());
    return id != kNone && groups_[id]->dirty && is_whole(id) &&
           std::all_of(flows.begin(), flows.end(),
                       [&](FlowSlot flow) { return partitions_.set().partition_of(flow) == id; });
}

bool PhaseController::may_stay_folded(const std::vector<step::FlowPair>& flows) {
    return std::all_of(flows.begin(), flows.end(), [&](const step::FlowPair& pair) {
        const PartitionId id = partitions_.set().partition_of(pair.leader);
        return id != kNone && partitions_.set().partition_of(pair.image) == id && is_whole(id);
    });
}

void PhaseController::unfolded(const std::vector<step::FlowPair>& flows) {
    inherit_skips(flows);
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
            if (groups_[image]->skipping) {
                pause_hosts(*groups_[image]);
            }
        } else if (image != kNone && !groups_[image]->dirty) {
            if (renamed.empty()) {
                for (const step::FlowPair& pair : flows) {
                    renamed.emplace_back(pair.leader, pair.image);
                }
                std::sort(renamed.begin(), renamed.end());
                ports = paired_ports(flows);
            }
            take_over(*groups_[image], *groups_[lead], renamed, ports);
        }
    }
}

/// What was skipped of copies was skipped of them, too: they are not worth telling either.
void PhaseController::inherit_skips(const std::vector<step::FlowPair>& flows) {
    if (episodes_ == nullptr) {
        return;
    }
    for (const step::FlowPair& pair : flows) {
        const std::uint32_t lead = episodes_->of(pair.leader);
        const std::uint32_t image = episodes_->of(pair.image);
        if (lead != kNone && image != kNone) {
            std::int64_t& skipped = episodes_->all[image]->skipped;
            skipped = std::max(skipped, episodes_->all[lead]->skipped);
        }
    }
}

/// `state` is what `lead` is, by its own names.
void PhaseController::take_over(State& state, const State& lead, const Names& flows,
                                const Names& ports) {
    const std::uint32_t id = state.id;
    state = lead;
    state.id = id;
    for (FlowSlot& flow : state.group.flows) {
        flow = follower_of(flows, flow);
    }
    for (std::vector<PortId>* list : {&state.queue_ports, &state.watched.ports}) {
        for (PortId& port : *list) {
            port = follower_of(ports, port);
        }
    }
    state.data_ports = DataPorts{};
    if (state.has_extent) {
        list_extent(state);
    }
    if (state.skipping) {
        pause_hosts(state);
    }
}

}  // namespace sluice::hybrid
