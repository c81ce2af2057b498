// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/recalled_episodes.h"

#include <algorithm>
#include <utility>

#include "core/episodes/episode_shape.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

namespace {

/// What is held lies kHeld in the future: it must have been taken back long before.
constexpr Tick kLongest = step::kHeld / 4;

}  // namespace

RecalledEpisodes::RecalledEpisodes(const PhaseParts& parts, EpisodeEngine& engine,
                                   EpisodeIndex& index, EpisodeMemory& memory,
                                   EpisodeWatcher* watcher)
    : parts_(parts),
      engine_(engine),
      index_(index),
      memory_(memory),
      watcher_(watcher),
      describe_([&engine](PortId port) { return engine.describe_for_episode(port); }) {}

void RecalledEpisodes::changed(FlowSlot flow, Tick now) {
    parts_.members.changed(parts_.partitions.set().partition_of(flow), now);
}

void RecalledEpisodes::hold(std::uint32_t number, FlowSlot flow) {
    Episode& episode = *index_.all[number];
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
    parts_.engine.shift(fresh, step::kHeld);
    parts_.timers.pause(fresh.hosts, HostTimers::kDeferred);
}

void RecalledEpisodes::run_calls(NodeId host, Tick at) {
    const std::uint32_t number = index_.holder(host);
    Episode& episode = *index_.all[number];
    const bool was_told = episode.state == EpisodeState::told;
    if (!was_told || parts_.engine.run_calls_to_start(host, at)) {
        if (was_told && at < episode.joins_until) {
            take_back(number);  // what is about to start may belong to it
        }
        if (episode.state == EpisodeState::told ||
            !engine_.run_held_calls(host, at, episode.held.flows)) {
            release(number, at);
            return;
        }
    }
    parts_.timers.await(host);
}

void RecalledEpisodes::take_back(std::uint32_t number) {
    Episode& episode = *index_.all[number];
    for (EpisodeFlow& flow : episode.flows) {
        engine_.untell_ends(flow.slot);
        flow.received = flow.finish = kNever;
    }
    episode.foreseen.clear();
    episode.state = EpisodeState::held;
    index_.set_cut(number, episode.joins_until);
}

void RecalledEpisodes::release(std::uint32_t number, Tick now) {
    Episode& episode = *index_.all[number];
    if (episode.state == EpisodeState::over) {
        resume(number, now);
    }
    if (!is_held(episode)) {
        return;
    }
    if (episode.state == EpisodeState::told) {
        take_back(number);
        ++parts_.report.counters().episodes.interrupted;
        memory_.held(episode.key, false);
    }
    episode.state = EpisodeState::simulated;
    parts_.engine.shift(episode.held, -step::kHeld);
    parts_.report.counters().episodes.late_calls +=
        engine_.run_alone(episode.held, episode.begin, now);
    let_go(number);
    std::vector<FlowSlot> entered;
    for (const FlowSlot flow : episode.held.flows) {
        if (parts_.partitions.contains(flow)) {
            changed(flow, now);
            entered.push_back(flow);
        }
    }
    if (parts_.engine.view().folds() != nullptr) {
        parts_.notes.released.push_back(std::move(entered));
    }
    episode.held = Group{};
}

/// Hosts of an episode run by themselves again.
void RecalledEpisodes::let_go(std::uint32_t number) {
    parts_.timers.resume(index_.all[number]->held.hosts);
    index_.set_cut(number, kNever);
}

void RecalledEpisodes::release_all(Tick now) {
    for (std::uint32_t number = 0; number < index_.all.size(); ++number) {
        if (index_.all[number] != nullptr) {
            release(number, now);
            if (index_.all[number]->state == EpisodeState::simulated) {
                index_.all[number]->whole = false;
                index_.all[number]->flows.clear();
            }
        }
    }
}

void RecalledEpisodes::at_cut(Tick at) {
    while (index_.next_cut() <= at) {
        const std::uint32_t number = index_.cuts.begin()->second;
        if (index_.all[number]->state == EpisodeState::told) {
            put_into_effect(number);
        } else {
            recall(number, at);
        }
    }
}

/// The first flow of a held episode could end from here on.
void RecalledEpisodes::recall(std::uint32_t number, Tick at) {
    Episode& episode = *index_.all[number];
    const bool single =
        std::all_of(episode.held.flows.begin(), episode.held.flows.end(), [&](FlowSlot flow) {
            return parts_.partitions.contains(flow) && engine_.stands_alone(flow);
        });
    std::optional<std::vector<EpisodeEnd>> ends;
    if (single && parts_.engine.view().may_skip(episode.held)) {
        ends = memory_.recall(episode, describe_, at);
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
            episode.begin + std::min(memory_.patience(episode, describe_, at), kLongest);
        if (until > at) {
            index_.set_cut(number, until);
            return;
        }
    }
    const bool trusted = trusts();
    if (!ends || !trusted || first <= at || (parts_.stop != kNever && last >= parts_.stop)) {
        ++parts_.report.counters().episodes.missed;
        const std::vector<memo::Digest> candidates = episode.candidates;
        const std::uint64_t late = parts_.report.counters().episodes.late_calls;
        release(number, at);
        for (const memo::Digest& digest : candidates) {
            if (parts_.report.counters().episodes.late_calls > late) {
                memory_.held(digest, false);
            }
        }
        return;
    }
    episode.foreseen = *std::move(ends);
    if (is_watched(episode)) {
        release(number, at);
        return;
    }
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        EpisodeFlow& flow = episode.flows[i];
        flow.received = episode.foreseen[i].received;
        flow.finish = episode.foreseen[i].finish;
        engine_.tell_ends(flow.slot, flow.received, flow.finish);
    }
    parts_.timers.pause(episode.held.hosts, HostTimers::kDeferred);
    episode.state = EpisodeState::told;
    episode.joins_until = std::min(first, episode.begin + memory_.first_end(episode, at));
    index_.set_cut(number, first);
}

/// Whether the episode, whose ends are foreseen, is executed all the same, for whoever looks on.
bool RecalledEpisodes::is_watched(Episode& episode) {
    if (watcher_ == nullptr) {
        return false;
    }
    for (const EpisodeFlow& flow : episode.flows) {
        episode.hops += static_cast<double>(engine_.whole_hops(flow.slot));
    }
    return watcher_->takes(episode);
}

/// The first end of an episode has come: its packets are left out.
void RecalledEpisodes::put_into_effect(std::uint32_t number) {
    Episode& episode = *index_.all[number];
    PhaseRecord& record = episode.record;
    record.partition = parts_.partitions.set().partition_of(episode.flows.front().slot);
    record.phase = Phase::memoized;
    record.start = episode.begin;
    record.ended_by = PhaseEnd::idle;
    record.flows = static_cast<std::uint32_t>(episode.flows.size());
    for (EpisodeFlow& flow : episode.flows) {
        flow.sent = engine_.drop_sender(flow.slot);
        index_.told[flow.slot] = 1;
    }
    if (watcher_ != nullptr) {
        watcher_->told(episode);
    }
    engine_.drop_packets(episode.held);
    Group held = std::move(episode.held);
    episode.held = Group{};
    episode.hosts = held.hosts;
    held.flows.clear();
    parts_.engine.shift(held, -step::kHeld);
    parts_.timers.resume(held.hosts);
    index_.set_cut(number, kNever);
    episode.state = EpisodeState::over;
    ++parts_.report.counters().episodes.hits;
    memory_.held(episode.key, true);
}

void RecalledEpisodes::account(Episode& episode, const EpisodeFlow& flow, std::int64_t bytes) {
    episode.record.hops_saved += engine_.account_told(flow.data, flow.acks, bytes, flow.sent);
    episode.record.bytes_skipped += bytes;
    Group used;
    used.ports = flow.data;
    used.ports.insert(used.ports.end(), flow.acks.begin(), flow.acks.end());
    sort_unique(used.ports);
    parts_.engine.settle(used);
}

void RecalledEpisodes::resume(std::uint32_t number, Tick now) {
    Episode& episode = *index_.all[number];
    const std::vector<double> sent = told_bytes(episode, describe_, now);
    std::vector<FlowSlot> entered;
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        const EpisodeFlow& flow = episode.flows[i];
        if (flow.slot == kNone || !index_.is_told(flow.slot) ||
            engine_.result(flow.slot).received != kNever) {
            continue;
        }
        const std::int64_t payload = parts_.engine.view().payload();
        const std::int64_t most = (flow.size - 1) / payload;
        const std::int64_t packets = std::clamp(static_cast<std::int64_t>(sent[i]) / payload,
                                                std::min(flow.sent, most), most);
        engine_.untell_ends(flow.slot);
        account(episode, flow, packets * payload);
        // As fast as would bring it to the end that was told.
        const Tick left = episode.foreseen[i].received - flow.base_rtt / 2 - now;
        const double rate = static_cast<double>(flow.size - packets * payload) /
                            static_cast<double>(std::max<Tick>(left, 1));
        engine_.resume(flow.slot, packets, rate, now);
        index_.told[flow.slot] = 0;
        entered.push_back(flow.slot);
    }
    if (entered.empty()) {
        return;
    }
    ++parts_.report.counters().episodes.resumed;
    memory_.held(episode.key, false);
    for (const FlowSlot flow : entered) {
        if (watcher_ != nullptr) {
            watcher_->resumed(flow);
        }
        if (parts_.partitions.contains(flow)) {
            changed(flow, now);
        }
    }
}

void RecalledEpisodes::report(Episode& episode, Tick now) {
    episode.record.end = now;
    parts_.report.counters().hops_saved += static_cast<std::uint64_t>(episode.record.hops_saved);
    parts_.report.counters().bytes_skipped += episode.record.bytes_skipped;
    parts_.report.add(episode.record);
}

}  // namespace sluice::hybrid
