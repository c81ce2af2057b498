// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/skip_executor.h"

#include <algorithm>
#include <vector>

namespace sluice::hybrid {

void SkipExecutor::begin(GroupState& state, Tick dt, Tick at) {
    const std::vector<FlowSlot>& flows = state.group.flows;
    state.until = at + dt;
    for (SkipStage* const stage : stages_) {
        stage->fall_asleep(state, at);
    }
    state.packets.resize(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const std::int64_t most = std::min(state.advance_by(i, dt), view_.unsent_packets(flows[i]));
        state.packets[i] = std::max<std::int64_t>(most, 0);
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {  // one may be executed for several
        engine_.advance(flows[i], state.packets[i]);
    }
    report_.end_unsteady(state, at, PhaseEnd::steady_found);
    engine_.shift(state.group, dt);
    state.skipping = true;
    state.since = at;
    state.flows_at_start = static_cast<std::uint32_t>(flows.size());
    report_.counters().skips += report_.times();
    report_.counters().recalled_skips += state.record.recalled ? report_.times() : 0;
    groups_.set_cut(state, state.until);
    if (view_.ack_streams() == nullptr) {
        pause_hosts(state);  // else a flow that starts at a host that sleeps wakes it
    }
}

void SkipExecutor::pause_hosts(const GroupState& state) {
    timers_.pause(state.group.hosts, state.id);
}

void SkipExecutor::make_way(GroupState& state, Tick now) {
    Tick until = now;
    for (SkipStage* const stage : stages_) {
        until = std::min(until, now - stage->executed_before(state, now));
    }
    end_early(state, until, PhaseEnd::flow_entered);
    groups_.set_cut(state, next_on_grid(now, state.period));
}

void SkipExecutor::skip_back(GroupState& state, Tick now, PhaseEnd why) {
    end_early(state, now, why);
    groups_.set_cut(state, next_on_grid(now, state.period));
}

void SkipExecutor::end_early(GroupState& state, Tick until, PhaseEnd why) {
    const Tick dt = until - state.since;
    engine_.shift(state.group, until - state.until);
    for (SkipStage* const stage : stages_) {
        stage->shorten(state, dt);
    }
    std::vector<std::int64_t> more(state.group.flows.size());
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const std::int64_t advance = std::max<std::int64_t>(state.advance_by(i, dt), 0);
        more[i] = std::min(advance, state.packets[i]) - state.packets[i];
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        engine_.advance(state.group.flows[i], more[i]);
        state.packets[i] += more[i];
    }
    state.until = until;
    report_.counters().skip_backs += report_.times();
    end(state, why);
}

void SkipExecutor::end(GroupState& state, PhaseEnd why) {
    const std::vector<FlowSlot>& flows = state.group.flows;
    const Tick dt = state.until - state.since;
    for (SkipStage* const stage : stages_) {
        stage->wake(state);
    }
    std::int64_t bytes = 0;
    std::int64_t hops = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const step::Footprint& tracks = view_.tracks(flows[i]);
        engine_.account(flows[i], state.packets[i]);
        bytes += state.packets[i] * view_.payload();
        hops +=
            state.packets[i] * static_cast<std::int64_t>(tracks.data.size() + tracks.acks.size());
        state.carry[i] +=
            state.rate[i] * static_cast<double>(dt) - static_cast<double>(state.packets[i]);
    }
    for (std::size_t i = 0; dt > 0 && i < flows.size(); ++i) {
        engine_.advance_law(flows[i], dt, state.packets[i], state.marked[i], state.until);
    }
    for (std::size_t i = 0; dt > 0 && i < stages_.size(); ++i) {
        bytes += stages_[i]->restore(state);
    }
    engine_.settle(state.group);
    if (view_.ack_streams() == nullptr) {
        timers_.resume(state.group.hosts);
    }
    for (SkipStage* const stage : stages_) {
        stage->finish(state);
    }
    PhaseStatistics& counters = report_.counters();
    counters.hops_saved += report_.times() * static_cast<std::uint64_t>(hops);
    report_.add_steady(flows.size(), dt);
    state.skipping = false;
    state.skipped += dt;
    state.detector->resumed(dt);
    counters.bytes_skipped += static_cast<std::int64_t>(report_.times()) * bytes;
    if (dt > 0) {
        report_.add(PhaseRecord{state.id, Phase::steady, state.since, state.until, why,
                                state.flows_at_start, bytes, hops});
    }
    state.since = state.until;
    state.flows_at_start = static_cast<std::uint32_t>(flows.size());
}

}  // namespace sluice::hybrid
