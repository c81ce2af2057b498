// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/episodes.h"

#include <algorithm>

#include "core/episodes/episode_shape.h"
#include "core/fold/folds.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

namespace {

/// More flows than that are not compared.
constexpr std::size_t kMostFlows = 4096;
/// Of an episode's flows: one in so many may be beside its last ones.
constexpr std::size_t kOwnPart = 4;

}  // namespace

Episodes::Episodes(const PhaseParts& parts, step::WorldStore& store, EpisodeMemory& memory,
                   EpisodeWatcher* watcher)
    : parts_(parts),
      engine_(store, parts.engine.view()),
      memory_(memory),
      watcher_(watcher),
      describe_([this](PortId port) { return engine_.describe_for_episode(port); }),
      recalled_(parts_, engine_, index_, memory, watcher) {}

bool Episodes::is_executed(FlowSlot flow) const {
    const std::uint32_t number = index_.of(flow);
    return number == kNone || (!is_held(*index_.all[number]) && !index_.is_told(flow));
}

bool Episodes::is_deferred(FlowSlot flow) const {
    const std::uint32_t number = index_.of(flow);
    return number != kNone && is_held(*index_.all[number]);
}

/// What is simulated so that its like may be skipped could have been skipped: nothing is won by telling it as an episode.
void Episodes::limit(SkipPlan& plan) {
    const NetworkView& view = parts_.engine.view();
    for (std::size_t f = 0; plan.spared && f < plan.state.group.flows.size(); ++f) {
        note_skipped(plan.state.group.flows[f], skippable(view, plan.state, f) * view.payload());
    }
}

void Episodes::finish(GroupState& state) {
    const std::int64_t payload = parts_.engine.view().payload();
    for (std::size_t f = 0; f < state.group.flows.size(); ++f) {
        note_skipped(state.group.flows[f], state.packets[f] * payload);
    }
}

/// What was skipped of copies was skipped of them, too: they are not worth telling either.
void Episodes::take_up(const step::FlowPairs& flows) {
    for (const step::FlowPair& pair : flows) {
        const std::uint32_t lead = index_.of(pair.leader);
        const std::uint32_t image = index_.of(pair.image);
        if (lead != kNone && image != kNone) {
            std::int64_t& skipped = index_.all[image]->skipped;
            skipped = std::max(skipped, index_.all[lead]->skipped);
        }
    }
}

/// `flow` is about to enter. Those that it meets at its hosts are one with it, or are simulated.
void Episodes::before_entry(FlowSlot flow, Tick now) {
    std::vector<std::uint32_t>& meeting = index_.meeting;
    for (const NodeId host : engine_.ends(flow)) {
        for (const std::uint32_t number : index_.told_at(host)) {
            recalled_.resume(number, now);
        }
    }
    meeting.clear();
    for (const NodeId host : engine_.ends(flow)) {
        index_.list_at(host, meeting);
    }
    sort_unique(meeting);
    hold_or_release(meeting, now);
    leave_out_ended();
}

/// What begins at `now` may be of these if they are all held. If not, they are simulated.
void Episodes::hold_or_release(const std::vector<std::uint32_t>& numbers, Tick now) {
    const bool held = std::all_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
        const Episode& episode = *index_.all[number];
        return is_held(episode) &&
               now < (episode.state == EpisodeState::told ? episode.joins_until : episode.cut);
    });
    for (const std::uint32_t number : numbers) {
        if (!held) {
            recalled_.release(number, now);
        } else if (index_.all[number]->state == EpisodeState::told) {
            recalled_.take_back(number);
        }
    }
}

/// Those of which a flow has ended take in no others, which are beside them.
void Episodes::leave_out_ended() {
    std::vector<std::uint32_t>& meeting = index_.meeting;
    index_.beside = false;
    const auto ended = [&](std::uint32_t number) {
        Episode& episode = *index_.all[number];
        if (!episode.whole || !has_ended(episode)) {
            return false;
        }
        ++episode.late;
        index_.beside = true;
        return true;
    };
    meeting.erase(std::remove_if(meeting.begin(), meeting.end(), ended), meeting.end());
}

EpisodeFlow Episodes::episode_flow(FlowSlot flow, Tick now) const {
    const step::Footprint& way = parts_.engine.view().tracks(flow);
    EpisodeFlow made;
    made.slot = flow;
    made.id = engine_.id_of(flow);
    made.spec = engine_.spec(flow);
    made.size = engine_.size_of(flow);
    made.traffic_class = parts_.engine.view().sender(flow).traffic_class;
    made.base_rtt = parts_.engine.view().base_rtt(flow);
    made.law = parts_.engine.view().law_facts(flow);
    made.least = engine_.least_time(flow);
    made.data = way.data;
    made.acks = way.acks;
    made.start = now;
    return made;
}

/// Episodes that a flow has joined are one from here on. Returns it.
std::uint32_t Episodes::join_episodes(Tick now) {
    const std::vector<std::uint32_t> meeting = index_.meeting;
    if (meeting.empty()) {
        const std::uint32_t made = index_.make();
        index_.all[made]->begin = now;
        return made;
    }
    const std::uint32_t first = meeting.front();
    Episode& episode = *index_.all[first];
    for (std::size_t i = 1; i < meeting.size(); ++i) {
        Episode& other = *index_.all[meeting[i]];
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
        index_.set_cut(first, std::min(episode.cut, other.cut));
        index_.join(meeting[i], first);
    }
    return first;
}

/// Nobody can be told of an episode in which a flow has started after an end.
bool Episodes::has_ended(const Episode& episode) const {
    return std::any_of(episode.flows.begin(), episode.flows.end(), [&](const EpisodeFlow& flow) {
        return flow.finish != kNever || engine_.result(flow.slot).received != kNever;
    });
}

/// `flow` has entered.
void Episodes::after_entry(FlowSlot flow, Tick now) {
    const bool fresh = index_.meeting.empty() && !index_.beside;
    const std::uint32_t number = join_episodes(now);
    Episode& episode = *index_.all[number];
    index_.enter(flow, number, engine_.ends(flow));
    index_.use_ports(flow, parts_.engine.view().tracks(flow).data);
    ++episode.open;
    const bool follows = folds() != nullptr && folds()->leader_of(flow) != flow;
    // It enters under way where a link's failure has led it elsewhere.
    const bool begins = engine_.result(flow).start == now && engine_.may_tell(flow);
    if (follows || index_.beside || !begins || !engine_.stands_alone(flow) ||
        episode.flows.size() >= kMostFlows) {
        episode.whole = false;
    }
    if (!episode.whole) {
        episode.flows.clear();
        recalled_.release(number, now);
        meet_at_ports(flow, now);
        return;
    }
    episode.flows.push_back(episode_flow(flow, now));
    const EpisodeFlow& entered = episode.flows.back();
    if (fresh && !is_followed(flow) && (recalled_.trusts())) {
        episode.candidates = memory_.may_belong_to(entered, describe_, now);
        const bool holds = !episode.candidates.empty() && entered.least < step::kHeld / 4;
        episode.state = holds ? EpisodeState::held : EpisodeState::simulated;
    } else if (episode.state == EpisodeState::held) {
        const std::vector<memo::Digest> of = memory_.may_belong_to(entered, describe_, now);
        episode.foreign =
            episode.foreign || std::find_first_of(of.begin(), of.end(), episode.candidates.begin(),
                                                  episode.candidates.end()) == of.end();
    }
    if (episode.state == EpisodeState::held) {
        if (!episode.waited) {
            index_.set_cut(number, std::min(episode.cut, entered.start + entered.least));
        }
        recalled_.hold(number, flow);
    }
    meet_at_ports(flow, now);
}

/// Of the rate of its NICs' links, each flow having an equal one.
double Episodes::part_of(FlowSlot flow) const {
    const std::vector<PortId>& way = index_.way[flow];
    const auto part = [&](PortId port) {
        return static_cast<double>(describe_(port).rate) /
               static_cast<double>(index_.at_port[port].size());
    };
    return std::min(part(way.front()), part(way.back()));
}

/// Episodes that could fill a port together are one. Those of which a flow has ended are beside the others, and then all
/// of them are simulated, and nothing is learned.
void Episodes::meet_at_ports(FlowSlot flow, Tick now) {
    if (parts_.config.memo_crowded) {
        return;
    }
    std::vector<std::uint32_t>& crowd = index_.meeting;
    list_crowd(flow, crowd);
    if (crowd.empty()) {
        return;
    }
    hold_or_release(crowd, now);
    std::size_t flows = 0;
    const bool whole = std::all_of(crowd.begin(), crowd.end(), [&](std::uint32_t number) {
        const Episode& episode = *index_.all[number];
        flows += episode.flows.size();
        return episode.whole && !has_ended(episode);
    });
    if (whole && flows <= kMostFlows) {
        join_episodes(now);
        return;
    }
    for (const std::uint32_t number : crowd) {
        recalled_.release(number, now);
        if (Episode& episode = *index_.all[number]; episode.state == EpisodeState::simulated) {
            episode.whole = false;
            episode.flows.clear();
        }
    }
}

/// Episodes of flows with which `flow`, of another one, could fill a port.
void Episodes::list_crowd(FlowSlot flow, std::vector<std::uint32_t>& crowd) const {
    const std::uint32_t own = index_.of(flow);
    crowd.clear();
    for (const PortId port : index_.way[flow]) {
        const std::vector<FlowSlot>& users = index_.at_port[port];
        if (std::all_of(users.begin(), users.end(),
                        [&](FlowSlot user) { return index_.of(user) == own; })) {
            continue;
        }
        double load = 0;
        for (const FlowSlot user : users) {
            load += part_of(user);
        }
        if (load >= kFullLoad * static_cast<double>(describe_(port).rate)) {
            for (const FlowSlot user : users) {
                crowd.push_back(index_.of(user));
            }
        }
    }
    sort_unique(crowd);
}

bool Episodes::is_followed(FlowSlot flow) const {
    if (folds() == nullptr) {
        return false;
    }
    std::vector<FlowSlot> followers;
    folds()->list_followers(flow, followers);
    return !followers.empty();
}

/// Nothing is won where phases or folding have already left most of it out.
bool Episodes::is_worth_telling(const Episode& episode) const {
    std::int64_t bytes = 0;
    for (const EpisodeFlow& flow : episode.flows) {
        bytes += flow.size;
    }
    return !episode.followed && 2 * episode.skipped < bytes &&
           kOwnPart * episode.late <= episode.flows.size();
}

/// `flow` of episode `own` is leaving. Copies are not told of themselves; the first of them to leave speaks for all.
void Episodes::note_folds(FlowSlot flow, std::uint32_t own) {
    if (folds() == nullptr) {
        return;
    }
    Episode& episode = *index_.all[own];
    const FlowSlot leader = folds()->leader_of(flow);
    episode.whole = episode.whole && (leader == flow || index_.of(leader) == own);
    std::vector<FlowSlot> followers;
    folds()->list_followers(flow, followers);
    episode.followed = episode.followed || !followers.empty();
    for (const FlowSlot follower : followers) {
        if (const std::uint32_t number = index_.of(follower); number != kNone && number != own) {
            index_.all[number]->whole = false;
        }
    }
}

/// `flow` is leaving the network.
void Episodes::after_exit(FlowSlot flow, Tick now) {
    const std::uint32_t number = index_.of(flow);
    if (number == kNone) {
        return;
    }
    Episode& episode = *index_.all[number];
    --episode.open;
    const bool told = index_.is_told(flow);
    index_.leave(flow, engine_.ends(flow));
    const FlowResult result = engine_.result(flow);
    for (EpisodeFlow& one : episode.flows) {
        if (one.slot == flow) {
            if (told) {
                recalled_.account(episode, one, one.size);
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
        memory_.learn(episode, describe_, now);
        ++parts_.report.counters().episodes.learned;
    }
    if (episode.state == EpisodeState::over) {
        recalled_.report(episode, now);
    }
    if (folds() != nullptr && episode.state == EpisodeState::over) {
        parts_.notes.released.push_back(index_.flows_at(episode.hosts));
    }
    index_.drop(number);
}

}  // namespace sluice::hybrid
