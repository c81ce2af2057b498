// SPDX-License-Identifier: Apache-2.0
/// Episodes that are known: held, told, or released (core/hybrid/episode.h).
#include <algorithm>
#include <utility>

#include "core/hybrid/episode_shape.h"
#include "core/hybrid/phase_episodes.h"
#include "core/hybrid/phase_state.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

namespace {

/// What is held lies kHeld in the future: it must have been taken back long before.
constexpr Tick kLongest = step::kHeld / 4;

}  // namespace

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
    const bool was_told = episode.state == EpisodeState::told;
    if (!was_told || engine_.run_calls_to_start(host, at)) {
        if (was_told && at < episode.joins_until) {
            take_back(number);  // what is about to start may belong to it
        }
        if (episode.state == EpisodeState::told ||
            !engine_.run_held_calls(host, at, episode.held.flows)) {
            release_episode(number, at);
            return;
        }
    }
    paused_.await(host, engine_.next_call(host));
}

/// An episode whose ends are told, but have not begun to come, is held again.
void PhaseController::take_back(std::uint32_t number) {
    Episode& episode = *episodes_->all[number];
    for (EpisodeFlow& flow : episode.flows) {
        engine_.untell_ends(flow.slot);
        flow.received = flow.finish = kNever;
    }
    episode.foreseen.clear();
    episode.state = EpisodeState::held;
    episodes_->set_cut(number, episode.joins_until);
}

/// What was held is executed up to `now` as if it had never been; what is told, from `now` on.
void PhaseController::release_episode(std::uint32_t number, Tick now) {
    Episode& episode = *episodes_->all[number];
    if (episode.state == EpisodeState::over) {
        resume_episode(number, now);
    }
    if (!is_held(episode)) {
        return;
    }
    if (episode.state == EpisodeState::told) {
        take_back(number);
        ++statistics_.episodes.interrupted;
        episodes_->memory.held(episode.key, false);
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
    paused_.resume(episodes_->all[number]->held.hosts);
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
        const Tick until =
            episode.begin + std::min(episodes_->memory.patience(episode, describe_, at), kLongest);
        if (until > at) {
            episodes_->set_cut(number, until);
            return;
        }
    }
    const bool trusted = watcher_ == nullptr || watcher_->trusts();
    if (!ends || !trusted || first <= at || (stop_ != kNever && last >= stop_)) {
        ++statistics_.episodes.missed;
        const std::vector<memo::Digest> candidates = episode.candidates;
        const std::uint64_t late = statistics_.episodes.late_calls;
        release_episode(number, at);
        for (const memo::Digest& digest : candidates) {
            if (statistics_.episodes.late_calls > late) {
                episodes_->memory.held(digest, false);
            }
        }
        return;
    }
    episode.foreseen = *std::move(ends);
    if (is_watched(episode)) {
        release_episode(number, at);
        return;
    }
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        EpisodeFlow& flow = episode.flows[i];
        flow.received = episode.foreseen[i].received;
        flow.finish = episode.foreseen[i].finish;
        engine_.tell_ends(flow.slot, flow.received, flow.finish);
    }
    for (const NodeId host : episode.held.hosts) {
        pause_host(host, kHeldHost);
    }
    episode.state = EpisodeState::told;
    episode.joins_until = std::min(first, episode.begin + episodes_->memory.first_end(episode, at));
    episodes_->set_cut(number, first);
}

/// Whether the episode, whose ends are foreseen, is executed all the same, for whoever looks on.
bool PhaseController::is_watched(Episode& episode) {
    if (watcher_ == nullptr) {
        return false;
    }
    for (const EpisodeFlow& flow : episode.flows) {
        episode.hops += static_cast<double>(engine_.whole_hops(flow.slot));
    }
    return watcher_->takes(episode);
}

/// The first end of an episode has come: its packets are left out.
void PhaseController::put_into_effect(std::uint32_t number) {
    Episode& episode = *episodes_->all[number];
    PhaseRecord& record = episode.record;
    record.partition = partitions_.set().partition_of(episode.flows.front().slot);
    record.phase = Phase::memoized;
    record.start = episode.begin;
    record.ended_by = PhaseEnd::idle;
    record.flows = static_cast<std::uint32_t>(episode.flows.size());
    for (EpisodeFlow& flow : episode.flows) {
        flow.sent = engine_.drop_sender(flow.slot);
        episodes_->told[flow.slot] = 1;
    }
    if (watcher_ != nullptr) {
        watcher_->told(episode);
    }
    engine_.drop_packets(episode.held);
    Group held = std::move(episode.held);
    episode.held = Group{};
    episode.hosts = held.hosts;
    held.flows.clear();
    engine_.shift(held, -step::kHeld);
    paused_.resume(held.hosts);
    episodes_->set_cut(number, kNever);
    episode.state = EpisodeState::over;
    ++statistics_.episodes.hits;
    episodes_->memory.held(episode.key, true);
}

/// So many of a flow's bytes were delivered without packets.
void PhaseController::account_told(Episode& episode, const EpisodeFlow& flow, std::int64_t bytes) {
    episode.record.hops_saved += engine_.account_told(flow.data, flow.acks, bytes, flow.sent);
    episode.record.bytes_skipped += bytes;
    Group used;
    used.ports = flow.data;
    used.ports.insert(used.ports.end(), flow.acks.begin(), flow.acks.end());
    sort_unique(used.ports);
    engine_.settle(used);
}

/// What is left of an episode that is over is executed from `now` on, for something has met it.
void PhaseController::resume_episode(std::uint32_t number, Tick now) {
    Episode& episode = *episodes_->all[number];
    const std::vector<double> sent = told_bytes(episode, describe_, now);
    std::vector<FlowSlot> entered;
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        const EpisodeFlow& flow = episode.flows[i];
        if (flow.slot == kNone || !episodes_->is_told(flow.slot) ||
            engine_.result(flow.slot).received != kNever) {
            continue;
        }
        const std::int64_t payload = engine_.payload();
        const std::int64_t most = (flow.size - 1) / payload;
        const std::int64_t packets = std::clamp(static_cast<std::int64_t>(sent[i]) / payload,
                                                std::min(flow.sent, most), most);
        engine_.untell_ends(flow.slot);
        account_told(episode, flow, packets * payload);
        // As fast as would bring it to the end that was told.
        const Tick left = episode.foreseen[i].received - flow.base_rtt / 2 - now;
        const double rate = static_cast<double>(flow.size - packets * payload) /
                            static_cast<double>(std::max<Tick>(left, 1));
        engine_.resume(flow.slot, packets, rate, now);
        episodes_->told[flow.slot] = 0;
        entered.push_back(flow.slot);
    }
    if (entered.empty()) {
        return;
    }
    ++statistics_.episodes.resumed;
    episodes_->memory.held(episode.key, false);
    for (const FlowSlot flow : entered) {
        if (watcher_ != nullptr) {
            watcher_->resumed(flow);
        }
        if (partitions_.contains(flow)) {
            changed(group_of(partitions_.set().partition_of(flow)), now);
        }
    }
}

/// Its last flow is leaving.
void PhaseController::report_told(Episode& episode, Tick now) {
    episode.record.end = now;
    statistics_.hops_saved += static_cast<std::uint64_t>(episode.record.hops_saved);
    statistics_.bytes_skipped += episode.record.bytes_skipped;
    emit(episode.record);
}

}  // namespace sluice::hybrid
