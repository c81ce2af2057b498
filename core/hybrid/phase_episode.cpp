// SPDX-License-Identifier: Apache-2.0
/// Episodes (core/hybrid/episode.h): flows that join them and leave them.
#include <algorithm>

#include "core/hybrid/episode_shape.h"
#include "core/hybrid/phase_episodes.h"
#include "core/hybrid/phase_state.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

namespace {

/// More flows than that are not compared.
constexpr std::size_t kMostFlows = 4096;
/// Of an episode's flows: one in so many may be beside its last ones.
constexpr std::size_t kOwnPart = 4;

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

bool PhaseController::is_settled(FlowSlot flow) const {
    return episodes_ != nullptr && episodes_->of(flow) != kNone && episodes_->is_told(flow);
}

/// Whether nothing of a partition is executed: its packets are held, or are no more.
bool PhaseController::rests(PartitionId id) const {
    if (episodes_ == nullptr) {
        return false;
    }
    const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
    return !flows.empty() && std::none_of(flows.begin(), flows.end(),
                                          [&](FlowSlot flow) { return is_executed(flow); });
}

/// Whether all of a partition is executed.
bool PhaseController::is_whole(PartitionId id) const {
    if (episodes_ == nullptr) {
        return true;
    }
    const std::vector<FlowSlot>& flows = partitions_.set().flows(id);
    return std::all_of(flows.begin(), flows.end(),
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
    for (const NodeId host : engine_.ends(flow)) {
        for (const std::uint32_t number : episodes_->told_at(host)) {
            resume_episode(number, now);
        }
    }
    meeting.clear();
    for (const NodeId host : engine_.ends(flow)) {
        episodes_->list_at(host, meeting);
    }
    sort_unique(meeting);
    hold_or_release(meeting, now);
    leave_out_ended();
}

/// What begins at `now` may be of these if they are all held. If not, they are simulated.
void PhaseController::hold_or_release(const std::vector<std::uint32_t>& numbers, Tick now) {
    const bool held = std::all_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
        const Episode& episode = *episodes_->all[number];
        return is_held(episode) &&
               now < (episode.state == EpisodeState::told ? episode.joins_until : episode.cut);
    });
    for (const std::uint32_t number : numbers) {
        if (!held) {
            release_episode(number, now);
        } else if (episodes_->all[number]->state == EpisodeState::told) {
            take_back(number);
        }
    }
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
    made.spec = engine_.spec(flow);
    made.size = engine_.size_of(flow);
    made.traffic_class = engine_.traffic_class(flow);
    made.base_rtt = engine_.base_rtt(flow);
    made.law = engine_.law_facts(flow);
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
        episode.late += other.late;
        episode.foreign = episode.foreign || other.foreign ||
                          std::find_first_of(other.candidates.begin(), other.candidates.end(),
                                             episode.candidates.begin(),
                                             episode.candidates.end()) == other.candidates.end();
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
    episodes_->use_ports(flow, engine_.tracks(flow).data);
    ++episode.open;
    const bool follows = folding_ != nullptr && folding_->leader_of(flow) != flow;
    // It enters under way where a link's failure has led it elsewhere.
    const bool begins = engine_.result(flow).start == now && engine_.may_tell(flow);
    if (follows || episodes_->beside || !begins || !engine_.stands_alone(flow) ||
        episode.flows.size() >= kMostFlows) {
        episode.whole = false;
    }
    if (!episode.whole) {
        episode.flows.clear();
        release_episode(number, now);
        meet_at_ports(flow, now);
        return;
    }
    episode.flows.push_back(episode_flow(flow, now));
    const EpisodeFlow& entered = episode.flows.back();
    if (fresh && !is_followed(flow) && (watcher_ == nullptr || watcher_->trusts())) {
        episode.candidates = episodes_->memory.may_belong_to(entered, describe_, now);
        const bool holds = !episode.candidates.empty() && entered.least < step::kHeld / 4;
        episode.state = holds ? EpisodeState::held : EpisodeState::simulated;
    } else if (episode.state == EpisodeState::held) {
        const std::vector<memo::Digest> of =
            episodes_->memory.may_belong_to(entered, describe_, now);
        episode.foreign =
            episode.foreign || std::find_first_of(of.begin(), of.end(), episode.candidates.begin(),
                                                  episode.candidates.end()) == of.end();
    }
    if (episode.state == EpisodeState::held) {
        if (!episode.waited) {
            episodes_->set_cut(number, std::min(episode.cut, entered.start + entered.least));
        }
        hold(number, flow);
    }
    meet_at_ports(flow, now);
}

/// Of the rate of its NICs' links, each flow having an equal one.
double PhaseController::part_of(FlowSlot flow) const {
    const std::vector<PortId>& way = episodes_->way[flow];
    const auto part = [&](PortId port) {
        return static_cast<double>(describe_(port).rate) /
               static_cast<double>(episodes_->at_port[port].size());
    };
    return std::min(part(way.front()), part(way.back()));
}

/// Episodes that could fill a port together are one. Those of which a flow has ended are beside the others, and then all
/// of them are simulated, and nothing is learned.
void PhaseController::meet_at_ports(FlowSlot flow, Tick now) {
    if (config_.memo_crowded) {
        return;
    }
    std::vector<std::uint32_t>& crowd = episodes_->meeting;
    list_crowd(flow, crowd);
    if (crowd.empty()) {
        return;
    }
    hold_or_release(crowd, now);
    std::size_t flows = 0;
    const bool whole = std::all_of(crowd.begin(), crowd.end(), [&](std::uint32_t number) {
        const Episode& episode = *episodes_->all[number];
        flows += episode.flows.size();
        return episode.whole && !has_ended(episode);
    });
    if (whole && flows <= kMostFlows) {
        join_episodes(now);
        return;
    }
    for (const std::uint32_t number : crowd) {
        release_episode(number, now);
        if (Episode& episode = *episodes_->all[number]; episode.state == EpisodeState::simulated) {
            episode.whole = false;
            episode.flows.clear();
        }
    }
}

/// Episodes of flows with which `flow`, of another one, could fill a port.
void PhaseController::list_crowd(FlowSlot flow, std::vector<std::uint32_t>& crowd) const {
    const std::uint32_t own = episodes_->of(flow);
    crowd.clear();
    for (const PortId port : episodes_->way[flow]) {
        const std::vector<FlowSlot>& users = episodes_->at_port[port];
        if (std::all_of(users.begin(), users.end(),
                        [&](FlowSlot user) { return episodes_->of(user) == own; })) {
            continue;
        }
        double load = 0;
        for (const FlowSlot user : users) {
            load += part_of(user);
        }
        if (load >= kFullLoad * static_cast<double>(describe_(port).rate)) {
            for (const FlowSlot user : users) {
                crowd.push_back(episodes_->of(user));
            }
        }
    }
    sort_unique(crowd);
}

bool PhaseController::is_followed(FlowSlot flow) const {
    if (folding_ == nullptr) {
        return false;
    }
    std::vector<FlowSlot> followers;
    folding_->list_followers(flow, followers);
    return !followers.empty();
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

/// `flow` of episode `own` is leaving. Copies are not told of themselves; the first of them to leave speaks for all.
void PhaseController::note_folds(FlowSlot flow, std::uint32_t own) {
    if (folding_ == nullptr) {
        return;
    }
    Episode& episode = *episodes_->all[own];
    const FlowSlot leader = folding_->leader_of(flow);
    episode.whole = episode.whole && (leader == flow || episodes_->of(leader) == own);
    std::vector<FlowSlot> followers;
    folding_->list_followers(flow, followers);
    episode.followed = episode.followed || !followers.empty();
    for (const FlowSlot follower : followers) {
        if (const std::uint32_t number = episodes_->of(follower);
            number != kNone && number != own) {
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
    const bool told = episodes_->is_told(flow);
    episodes_->leave(flow, engine_.ends(flow));
    const FlowResult result = engine_.result(flow);
    for (EpisodeFlow& one : episode.flows) {
        if (one.slot == flow) {
            if (told) {
                account_told(episode, one, one.size);
            }
            one.received = result.received;
            one.finish = result.finish;
            one.slot = kNone;
        }
    }
    note_folds(flow, number);
    if (episode.open > 0) {
        return;
    }
    const bool simulated = episode.state == EpisodeState::simulated && episode.whole;
    if (simulated && episode.foreseen.size() == episode.flows.size()) {
        watcher_->compared(episode, now);
    }
    if (simulated && is_worth_telling(episode)) {
        episodes_->memory.learn(episode, describe_, now);
        ++statistics_.episodes.learned;
    }
    if (episode.state == EpisodeState::over) {
        report_told(episode, now);
    }
    if (folding_ != nullptr && episode.state == EpisodeState::over) {
        folding_->reconsider(episodes_->flows_at(episode.hosts));
    }
    episodes_->drop(number);
}

}  // namespace sluice::hybrid
