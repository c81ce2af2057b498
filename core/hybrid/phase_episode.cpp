// SPDX-License-Identifier: Apache-2.0
/// Episodes (core/hybrid/episode.h): what the controller knows of those under way, holds back and tells.
#include <algorithm>
#include <iterator>

#include "core/hybrid/phase_episodes.h"
#include "core/hybrid/phase_state.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

namespace {

/// More flows than that are not compared.
constexpr std::size_t kMostFlows = 4096;
/// Of an episode's flows: one in so many may be beside its last ones.
constexpr std::size_t kOwnPart = 4;

template <class T>
void sort_unique(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Those of `all`, ascending, that are not in `known`, ascending, which then has them, too.
template <class T>
std::vector<T> add_new(std::vector<T>& known, const std::vector<T>& all) {
    std::vector<T> fresh;
    std::set_difference(all.begin(), all.end(), known.begin(), known.end(),
                        std::back_inserter(fresh));
    std::vector<T> both;
    std::set_union(known.begin(), known.end(), fresh.begin(), fresh.end(),
                   std::back_inserter(both));
    known = std::move(both);
    return fresh;
}

bool is_held(const Episode& episode) {
    return episode.state == EpisodeState::held || episode.state == EpisodeState::told;
}

void append(Group& group, const Group& other) {
    add_new(group.ports, other.ports);
    add_new(group.hosts, other.hosts);
    add_new(group.switches, other.switches);
    group.flows.insert(group.flows.end(), other.flows.begin(), other.flows.end());
}

}  // namespace

void PhaseController::remember_episodes(EpisodeMemory& memory) {
    if (config_.scope == PhaseScope::partition && acks_ == nullptr) {
        episodes_ = std::make_unique<Episodes>(memory);
    }
}

/// Whether packets of a flow in the network are executed.
bool PhaseController::is_executed(FlowSlot flow) const {
    if (episodes_ == nullptr) {
        return true;
    }
    const std::uint32_t number = episodes_->of(flow);
    return number == kNone || (!is_held(*episodes_->all[number]) && !episodes_->is_told(flow));
}

/// Whether nothing of a partition is executed: its packets are held, or are no more.
bool PhaseController::rests(PartitionId id) const {
    const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
    return episodes_ != nullptr && !flows.empty() &&
           std::none_of(flows.begin(), flows.end(),
                        [&](FlowSlot flow) { return is_executed(flow); });
}

/// Whether all of a partition is executed.
bool PhaseController::is_whole(PartitionId id) const {
    const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
    return episodes_ == nullptr || std::all_of(flows.begin(), flows.end(),
                                               [&](FlowSlot flow) { return is_executed(flow); });
}

/// Whether something of a partition is held, so that it cannot be moved in time as a whole.
bool PhaseController::holds_some(PartitionId id) const {
    if (episodes_ == nullptr) {
        return false;
    }
    const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
    return std::any_of(flows.begin(), flows.end(), [&](FlowSlot flow) {
        const std::uint32_t number = episodes_->of(flow);
        return number != kNone && is_held(*episodes_->all[number]);
    });
}

Tick PhaseController::next_episode_cut() const {
    return episodes_ == nullptr || episodes_->cuts.empty() ? kNever
                                                           : episodes_->cuts.begin()->first;
}

/// `flow` is about to enter. Those that it meets at its hosts are one with it, or are simulated.
void PhaseController::meet_episodes(FlowSlot flow, Tick now) {
    std::vector<std::uint32_t>& meeting = episodes_->meeting;
    meeting.clear();
    for (const NodeId host : engine_.ends(flow)) {
        episodes_->list_at(host, meeting);
    }
    sort_unique(meeting);
    const bool joins = std::all_of(meeting.begin(), meeting.end(), [&](std::uint32_t number) {
        const Episode& episode = *episodes_->all[number];
        return episode.state == EpisodeState::held && now < episode.cut;
    });
    for (std::size_t i = 0; !joins && i < meeting.size(); ++i) {
        release_episode(meeting[i], now);
    }
    leave_out_ended();
}

/// Those of which a flow has ended take in no others, which are beside them.
void PhaseController::leave_out_ended() {
    std::vector<std::uint32_t>& meeting = episodes_->meeting;
    episodes_->beside = false;
    const auto ended = [&](std::uint32_t number) {
        Episode& episode = *episodes_->all[number];
        if (!episode.whole || !has_ended(episode)) {
            return false;
        }
        ++episode.late;
        episodes_->beside = true;
        return true;
    };
    meeting.erase(std::remove_if(meeting.begin(), meeting.end(), ended), meeting.end());
}

EpisodeFlow PhaseController::episode_flow(FlowSlot flow, Tick now) const {
    const step::Footprint& way = engine_.tracks(flow);
    EpisodeFlow made;
    made.slot = flow;
    made.id = engine_.id_of(flow);
    made.size = engine_.size_of(flow);
    made.traffic_class = engine_.traffic_class(flow);
    made.base_rtt = engine_.base_rtt(flow);
    made.least = engine_.least_time(flow);
    made.data = way.data;
    made.acks = way.acks;
    made.start = now;
    return made;
}

/// Episodes that a flow has joined are one from here on. Returns it.
std::uint32_t PhaseController::join_episodes(Tick now) {
    const std::vector<std::uint32_t> meeting = episodes_->meeting;
    if (meeting.empty()) {
        const std::uint32_t made = episodes_->make();
        episodes_->all[made]->begin = now;
        return made;
    }
    const std::uint32_t first = meeting.front();
    Episode& episode = *episodes_->all[first];
    for (std::size_t i = 1; i < meeting.size(); ++i) {
        Episode& other = *episodes_->all[meeting[i]];
        episode.begin = std::min(episode.begin, other.begin);
        episode.open += other.open;
        episode.whole = episode.whole && other.whole;
        episode.foreign = episode.foreign || other.foreign;
        episode.followed = episode.followed || other.followed;
        episode.skipped += other.skipped;
        episode.waited = episode.waited || other.waited;
        episode.flows.insert(episode.flows.end(), other.flows.begin(), other.flows.end());
        append(episode.held, other.held);
        episodes_->set_cut(first, std::min(episode.cut, other.cut));
        episodes_->join(meeting[i], first);
    }
    return first;
}

/// Nobody can be told of an episode in which a flow has started after an end.
bool PhaseController::has_ended(const Episode& episode) const {
    return std::any_of(episode.flows.begin(), episode.flows.end(), [&](const EpisodeFlow& flow) {
        return flow.finish != kNever || engine_.result(flow.slot).received != kNever;
    });
}

/// `flow` has entered.
void PhaseController::enter_episode(FlowSlot flow, Tick now) {
    const bool fresh = episodes_->meeting.empty() && !episodes_->beside;
    const std::uint32_t number = join_episodes(now);
    Episode& episode = *episodes_->all[number];
    episodes_->enter(flow, number, engine_.ends(flow));
    ++episode.open;
    const bool follows = folding_ != nullptr && folding_->leader_of(flow) != flow;
    if (follows || episodes_->beside || !engine_.may_tell() || episode.flows.size() >= kMostFlows) {
        episode.whole = false;
    }
    if (!episode.whole) {
        episode.flows.clear();
        release_episode(number, now);
        return;
    }
    episode.flows.push_back(episode_flow(flow, now));
    const EpisodeFlow& entered = episode.flows.back();
    if (fresh && !is_followed(flow)) {
        episode.candidates = episodes_->memory.may_belong_to(entered, describe_, now);
        episode.state = episode.candidates.empty() ? EpisodeState::simulated : EpisodeState::held;
    }
    if (episode.state == EpisodeState::held) {
        const std::vector<memo::Digest> of =
            episodes_->memory.may_belong_to(entered, describe_, now);
        episode.foreign =
            episode.foreign || std::find_first_of(of.begin(), of.end(), episode.candidates.begin(),
                                                  episode.candidates.end()) == of.end();
        if (!episode.waited) {
            episodes_->set_cut(number, std::min(episode.cut, entered.start + entered.least));
        }
        hold(number, flow);
    }
}

bool PhaseController::is_followed(FlowSlot flow) const {
    if (folding_ == nullptr) {
        return false;
    }
    std::vector<FlowSlot> followers;
    folding_->list_followers(flow, followers);
    return !followers.empty();
}

/// Holds what `flow` has brought to an episode that is held: its packets have not come farther than its NIC's link.
void PhaseController::hold(std::uint32_t number, FlowSlot flow) {
    Episode& episode = *episodes_->all[number];
    std::vector<NodeId> hosts = engine_.ends(flow);
    sort_unique(hosts);
    Group fresh;
    fresh.hosts = add_new(episode.held.hosts, hosts);
    for (const NodeId host : fresh.hosts) {
        engine_.list_ports(host, fresh.ports);
    }
    std::sort(fresh.ports.begin(), fresh.ports.end());
    add_new(episode.held.ports, fresh.ports);
    const bool held_already = std::find(episode.held.flows.begin(), episode.held.flows.end(),
                                        flow) != episode.held.flows.end();
    if (!held_already) {
        fresh.flows = {flow};
        episode.held.flows.push_back(flow);
    }
    std::vector<NodeId> switches = engine_.switches_on(flow);
    sort_unique(switches);
    add_new(episode.held.switches, switches);
    fresh.switches = std::move(switches);
    engine_.shift(fresh, step::kHeld);
    for (const NodeId host : fresh.hosts) {
        pause_host(host, kHeldHost);
    }
}

/// Timers of a host that is held, due at `at`.
void PhaseController::run_held_calls(NodeId host, Tick at) {
    const std::uint32_t number = episodes_->holder(host);
    Episode& episode = *episodes_->all[number];
    if (episode.state == EpisodeState::held) {
        engine_.run_held_calls(host, at, episode.held.flows);
    } else if (engine_.run_calls(host, at)) {
        release_episode(number, at);
        return;
    }
    if (const Tick next = engine_.next_call(host); next != kNever) {
        calls_.insert({next, host});
    }
}

/// What was held is executed up to `now` as if it had never been.
void PhaseController::release_episode(std::uint32_t number, Tick now) {
    Episode& episode = *episodes_->all[number];
    if (!is_held(episode)) {
        return;
    }
    if (episode.state == EpisodeState::told) {
        for (EpisodeFlow& flow : episode.flows) {
            engine_.untell_ends(flow.slot);
            flow.received = flow.finish = kNever;
        }
        ++statistics_.episodes.interrupted;
    }
    episode.state = EpisodeState::simulated;
    engine_.shift(episode.held, -step::kHeld);
    statistics_.episodes.late_calls += engine_.run_alone(episode.held, episode.begin, now);
    let_go(number);
    std::vector<FlowSlot> entered;
    for (const FlowSlot flow : episode.held.flows) {
        if (partitions_.contains(flow)) {
            changed(group_of(partitions_.set().partition_of(flow)), now);
            entered.push_back(flow);
        }
    }
    if (folding_ != nullptr) {
        folding_->reconsider(std::move(entered));
    }
    episode.held = Group{};
}

/// Hosts of an episode run by themselves again.
void PhaseController::let_go(std::uint32_t number) {
    resume_hosts(episodes_->all[number]->held.hosts);
    episodes_->set_cut(number, kNever);
}

void PhaseController::release_all_episodes(Tick now) {
    if (episodes_ == nullptr) {
        return;
    }
    for (std::uint32_t number = 0; number < episodes_->all.size(); ++number) {
        if (episodes_->all[number] != nullptr) {
            release_episode(number, now);
            if (episodes_->all[number]->state == EpisodeState::simulated) {
                episodes_->all[number]->whole = false;
                episodes_->all[number]->flows.clear();
            }
        }
    }
}

void PhaseController::look_at_episodes(Tick at) {
    while (next_episode_cut() <= at) {
        const std::uint32_t number = episodes_->cuts.begin()->second;
        if (episodes_->all[number]->state == EpisodeState::told) {
            put_into_effect(number);
        } else {
            recall_episode(number, at);
        }
    }
}

/// The first flow of a held episode could end from here on.
void PhaseController::recall_episode(std::uint32_t number, Tick at) {
    Episode& episode = *episodes_->all[number];
    const bool single = std::all_of(
        episode.held.flows.begin(), episode.held.flows.end(),
        [&](FlowSlot flow) { return partitions_.contains(flow) && engine_.stands_alone(flow); });
    std::optional<std::vector<EpisodeEnd>> ends;
    if (single && engine_.may_skip(episode.held)) {
        ends = episodes_->memory.recall(episode, describe_, at);
    }
    Tick first = kNever;
    Tick last = 0;
    for (std::size_t i = 0; ends && i < ends->size(); ++i) {
        first = std::min(first, (*ends)[i].received);
        last = std::max(last, (*ends)[i].finish);
    }
    if (!ends && !episode.foreign && !episode.waited) {
        episode.waited = true;
        const Tick until = episode.begin + episodes_->memory.patience(episode.candidates, at);
        if (until > at) {
            episodes_->set_cut(number, until);
            return;
        }
    }
    if (!ends || first <= at || (stop_ != kNever && last >= stop_)) {
        ++statistics_.episodes.missed;
        release_episode(number, at);
        return;
    }
    for (std::size_t i = 0; i < ends->size(); ++i) {
        EpisodeFlow& flow = episode.flows[i];
        flow.received = (*ends)[i].received;
        flow.finish = (*ends)[i].finish;
        engine_.tell_ends(flow.slot, flow.received, flow.finish);
    }
    for (const NodeId host : episode.held.hosts) {
        pause_host(host, kHeldHost);
    }
    episode.state = EpisodeState::told;
    episodes_->set_cut(number, first);
}

/// The first end of an episode has come: its packets will not be needed.
void PhaseController::put_into_effect(std::uint32_t number) {
    Episode& episode = *episodes_->all[number];
    PhaseRecord record;
    record.partition = partitions_.set().partition_of(episode.flows.front().slot);
    record.phase = Phase::memoized;
    record.start = episode.begin;
    record.ended_by = PhaseEnd::idle;
    record.flows = static_cast<std::uint32_t>(episode.flows.size());
    for (const EpisodeFlow& flow : episode.flows) {
        record.end = std::max(record.end, flow.finish);
        record.hops_saved += engine_.account_whole(flow.slot);
        record.bytes_skipped += flow.size;
        engine_.drop_sender(flow.slot);
        episodes_->told[flow.slot] = 1;
    }
    engine_.drop_packets(episode.held);
    Group used;
    for (const EpisodeFlow& flow : episode.flows) {
        used.ports.insert(used.ports.end(), flow.data.begin(), flow.data.end());
        used.ports.insert(used.ports.end(), flow.acks.begin(), flow.acks.end());
    }
    sort_unique(used.ports);
    engine_.settle(used);
    Group held = std::move(episode.held);
    episode.held = Group{};
    episode.hosts = held.hosts;
    held.flows.clear();
    engine_.shift(held, -step::kHeld);
    resume_hosts(held.hosts);
    episodes_->set_cut(number, kNever);
    episode.state = EpisodeState::over;
    ++statistics_.episodes.hits;
    statistics_.hops_saved += static_cast<std::uint64_t>(record.hops_saved);
    statistics_.bytes_skipped += record.bytes_skipped;
    emit(record);
}

/// `bytes` of a flow's payload were not executed.
void PhaseController::note_skipped(FlowSlot flow, std::int64_t bytes) {
    if (episodes_ != nullptr) {
        episodes_->all[episodes_->of(flow)]->skipped += bytes;
    }
}

/// Nothing is won where phases or folding have already left most of it out.
bool PhaseController::is_worth_telling(const Episode& episode) const {
    std::int64_t bytes = 0;
    for (const EpisodeFlow& flow : episode.flows) {
        bytes += flow.size;
    }
    return !episode.followed && 2 * episode.skipped < bytes &&
           kOwnPart * episode.late <= episode.flows.size();
}

/// `flow` of the episode is leaving. Copies are not told of themselves; the first of them to leave speaks for all.
void PhaseController::note_folds(FlowSlot flow, Episode& episode) {
    if (folding_ == nullptr) {
        return;
    }
    episode.whole = episode.whole && folding_->leader_of(flow) == flow;
    std::vector<FlowSlot> followers;
    folding_->list_followers(flow, followers);
    episode.followed = episode.followed || !followers.empty();
    for (const FlowSlot follower : followers) {
        if (const std::uint32_t number = episodes_->of(follower); number != kNone) {
            episodes_->all[number]->whole = false;
        }
    }
}

/// `flow` is leaving the network.
void PhaseController::leave_episode(FlowSlot flow, Tick now) {
    const std::uint32_t number = episodes_->of(flow);
    if (number == kNone) {
        return;
    }
    Episode& episode = *episodes_->all[number];
    --episode.open;
    episodes_->leave(flow, engine_.ends(flow));
    const FlowResult result = engine_.result(flow);
    for (EpisodeFlow& one : episode.flows) {
        if (one.slot == flow) {
            one.received = result.received;
            one.finish = result.finish;
            one.slot = kNone;
        }
    }
    note_folds(flow, episode);
    if (episode.open > 0) {
        return;
    }
    if (episode.state == EpisodeState::simulated && episode.whole && is_worth_telling(episode)) {
        episodes_->memory.learn(episode, describe_, now);
        ++statistics_.episodes.learned;
    }
    if (folding_ != nullptr && episode.state == EpisodeState::over) {
        folding_->reconsider(episodes_->flows_at(episode.hosts));
    }
    episodes_->drop(number);
}

}  // namespace sluice::hybrid
