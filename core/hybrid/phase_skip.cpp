// SPDX-License-Identifier: Apache-2.0
/// One skip of the phase controller: its length and rates, its begin, its end, early or not.
#include <algorithm>

#include "core/hybrid/phase_state.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

void PhaseController::plan(State& state, const steady::Verdict& verdict, Tick at) {
    if (!state.has_extent) {
        list_extent(state);
    }
    const std::vector<FlowSlot>& flows = state.group.flows;
    const bool trusted = watcher_ == nullptr || watcher_->trusts();
    if (!trusted || !engine_.may_skip(state.group) || holds_some(state.id)) {
        return;
    }
    take_rates(state, verdict);
    state.since_born = at - state.born;
    find_courses(state, verdict, at);
    const Tick longest = state.by_law.empty() ? calibrate(state, verdict.longest_skip, at)
                                              : foresee_laws(state, verdict.longest_skip);
    const Tick dt = length_of_skip(state, longest, at);
    if (dt < std::max<Tick>(state.rtt, 1) || !rates_are_settled(state)) {
        return;
    }
    state.by_law.take(dt, state.rate);
    loads_.fit(state.group, state.rate);
    if (watcher_ != nullptr) {
        watcher_->before_skip(watched(state, at, at + dt));
    }
    fall_asleep(state, at);
    state.marked = verdict.marked;
    state.packets.resize(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        state.packets[i] = std::min(state.advance_by(i, dt), engine_.unsent_packets(flows[i]));
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {  // one may be executed for several
        engine_.advance(flows[i], state.packets[i]);
    }
    report(state, Phase::unsteady, at, PhaseEnd::steady_found);
    engine_.shift(state.group, dt);
    state.skipping = true;
    state.since = at;
    state.until = at + dt;
    state.flows_at_start = static_cast<std::uint32_t>(flows.size());
    statistics_.skips += copies();
    statistics_.recalled_skips += state.record.recalled ? copies() : 0;
    set_cut(state, state.until);
    if (acks_ == nullptr) {
        pause_hosts(state);  // else a flow that starts at a host that sleeps disturbs it
    }
}

WatchedSkip PhaseController::watched(const State& state, Tick begin, Tick end) const {
    const bool holds_shares = config_.local() && state.sharing > 1;
    const auto mean_rate = [this, &state](std::size_t flow, Tick first) {
        return state.by_law.holds(flow) ? state.by_law.rate(flow, first)
                                        : state.rate[flow] * told_part(state, flow, first);
    };
    return {state.id,
            state.group,
            engine_.executed_of(state.group),
            state.rate,
            mean_rate,
            begin,
            end,
            state.rtt,
            copies(),
            holds_shares,
            state.record.told ? state.record.entry : kNone};
}

/// Which flows' rates their laws change by themselves.
void PhaseController::find_courses(State& state, const steady::Verdict& verdict, Tick at) const {
    state.by_law.clear();
    if (!steady::LawCourses::concern(engine_.law())) {
        return;
    }
    std::vector<steady::LawFlow> flows;
    for (std::size_t f = 0; f < state.group.flows.size(); ++f) {
        const FlowSlot flow = state.group.flows[f];
        flows.push_back({&engine_.law_state(flow), &state.readings[f], engine_.base_rtt(flow)});
    }
    state.by_law.find({&engine_.law(), engine_.payload(), engine_.data_bytes()}, flows, verdict,
                      at);
}

/// Takes the rates that laws change by themselves. What others told says nothing of such a group. Returns `longest`.
Tick PhaseController::foresee_laws(State& state, Tick longest) const {
    constexpr int kRounds = 3;  // rates and the length depend on each other
    state.record.told = false;
    state.record.recalled = false;
    for (int round = 0; round < kRounds; ++round) {
        const double left = std::min(time_left(state), static_cast<double>(longest));
        state.by_law.take(static_cast<Tick>(left), state.rate);
    }
    return longest;
}

/// Where ACKs are streams, those of the group go on at the skip's rates.
void PhaseController::fall_asleep(const State& state, Tick at) {
    if (acks_ == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        acks_->hold(state.group.flows[i], state.rate[i], at);
    }
    acks_->set_asleep(state.group, true, at);
    wake_overrun(at);
}

/// The rates of the skip: measured, or the rate source's.
void PhaseController::take_rates(State& state, const steady::Verdict& verdict) {
    const auto payload = static_cast<double>(engine_.payload());
    state.rate.resize(state.group.flows.size());
    for (std::size_t i = 0; i < state.rate.size(); ++i) {
        state.rate[i] = verdict.rate[i] / payload / kTicksPerSecond;
    }
    if (rates_ != nullptr) {
        take_given_rates(state);
    }
}

/// At most `longest`, and what ends it; 0: a flow has nothing to skip.
Tick PhaseController::length_of_skip(State& state, Tick longest, Tick at) {
    Tick dt = longest;
    state.planned_end = PhaseEnd::cap;
    if (config_.longest_skip > 0) {
        dt = std::min(dt, config_.longest_skip);
    }
    if (stop_ != kNever) {
        dt = std::min(dt, stop_ - at - 1);
    }
    if (dt < longest && static_cast<double>(dt) < told_length(state.record)) {
        shorten_told(state, dt);
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const std::int64_t left = skippable(state, i);
        if (left <= 0 || !(state.rate[i] > 0)) {
            return 0;
        }
        const double lasts = static_cast<double>(left) / state.rate[i];
        if (lasts < static_cast<double>(dt)) {
            dt = static_cast<Tick>(lasts);
            state.planned_end = PhaseEnd::finisher_near;
        }
    }
    return dt;
}

/// What a flow may be advanced by at most: what is in flight as a skip ends is as much as now, and that
/// many are sent as packets.
std::int64_t PhaseController::skippable(const State& state, std::size_t flow) const {
    return engine_.unsent_packets(state.group.flows[flow]) -
           state.readings[flow].in_flight / engine_.payload() - 1;
}

/// Packets would change nothing of the rates that a skip holds. Whoever predicts rates knows better, and who allows errors
/// of this part does not ask.
bool PhaseController::rates_are_settled(State& state) const {
    constexpr double kAnything = 1;
    if (state.record.told || rates_ != nullptr || config_.detector.tolerance >= kAnything) {
        return true;
    }
    return state.sharing > 1 ? loads_.are_fair(state.group, state.rate, state.data_ports)
                             : !loads_.is_above_aim(state.group, state.rate);
}

/// From here to the skip's end the group's timers of hosts come up at the controller.
void PhaseController::pause_hosts(const State& state) {
    for (const NodeId host : state.group.hosts) {
        pause_host(host, state.id);
    }
}

void PhaseController::pause_host(NodeId host, std::uint32_t by) {
    if (engine_.executed_as(host) == host) {  // else the one that it follows is one of these
        paused_.pause(host, by, engine_.next_call(host));
    }
}

void PhaseController::list_extent(State& state) {
    Group& group = state.group;
    group.ports.clear();
    group.hosts.clear();
    group.switches.clear();
    const auto add = [&](PartitionId id) {
        const step::Extent extent = partitions_.extent(id);
        group.ports.insert(group.ports.end(), extent.ports.begin(), extent.ports.end());
        group.hosts.insert(group.hosts.end(), extent.hosts.begin(), extent.hosts.end());
        group.switches.insert(group.switches.end(), extent.switches.begin(), extent.switches.end());
    };
    if (config_.scope == PhaseScope::network) {
        for (const PartitionId id : partitions_.set().partitions()) {
            add(id);
        }
        // Partitions share no port and no host, but they do share switches.
        std::sort(group.switches.begin(), group.switches.end());
        group.switches.erase(std::unique(group.switches.begin(), group.switches.end()),
                             group.switches.end());
    } else {
        add(state.id);
    }
    state.has_extent = true;
}

/// The rate source's rates in place of the measured ones.
void PhaseController::take_given_rates(State& state) {
    const std::vector<FlowSlot>& flows = state.group.flows;
    const auto payload = static_cast<double>(engine_.payload());
    const double data = static_cast<double>(engine_.data_bytes()) / payload;
    const double acks = engine_.ack_bytes() / payload;
    std::vector<RateDemand> demands(flows.size());
    std::vector<double> capacities;
    std::vector<PortId> ports;
    std::vector<double> users;
    const auto use = [&](RateDemand& demand, PortId port, double coefficient) {
        if (link_index_.size() <= port) {
            link_index_.resize(port + 1, kNone);
        }
        if (link_index_[port] == kNone) {
            link_index_[port] = static_cast<std::uint32_t>(ports.size());
            ports.push_back(port);
            capacities.push_back(static_cast<double>(engine_.link_rate(port)) / 8 /
                                 kTicksPerSecond);
            users.push_back(0);
        }
        demand.links.push_back({link_index_[port], coefficient});
        users[link_index_[port]] += coefficient;
    };
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const step::Footprint& tracks = engine_.tracks(flows[i]);
        for (const PortId port : tracks.data) {
            use(demands[i], port, data);
        }
        for (const PortId port : tracks.acks) {
            use(demands[i], port, acks);
        }
    }
    for (const PortId port : ports) {
        link_index_[port] = kNone;
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
        demands[i].instantaneous = state.rate[i] * payload;
        // What an equal division of its links guarantees: laws know no other minimum.
        for (const RateDemand::Use& used : demands[i].links) {
            demands[i].guaranteed =
                std::min(demands[i].guaranteed, capacities[used.link] / users[used.link]);
        }
    }
    const std::vector<double> rates = rates_->rates(demands, capacities);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        state.rate[i] = rates[i] / payload;
    }
}

void PhaseController::skip_back(State& state, Tick now, PhaseEnd why) {
    engine_.shift(state.group, now - state.until);
    shorten_told(state, now - state.since);
    state.by_law.take(now - state.since, state.rate);
    std::vector<std::int64_t> more(state.group.flows.size());
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        more[i] =
            std::min(state.advance_by(i, now - state.since), state.packets[i]) - state.packets[i];
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        engine_.advance(state.group.flows[i], more[i]);
        state.packets[i] += more[i];
    }
    state.until = now;
    statistics_.skip_backs += copies();
    commit(state, why);
    set_cut(state, next_on_grid(now, state.period));
}

void PhaseController::commit(State& state, PhaseEnd why) {
    const Tick dt = state.until - state.since;
    if (acks_ != nullptr) {
        acks_->set_asleep(state.group, false, state.until);
    }
    std::int64_t bytes = 0;
    std::int64_t hops = 0;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const FlowSlot flow = state.group.flows[i];
        const step::Footprint& tracks = engine_.tracks(flow);
        engine_.account(flow, state.packets[i]);
        bytes += state.packets[i] * engine_.payload();
        note_skipped(flow, state.packets[i] * engine_.payload());
        hops +=
            state.packets[i] * static_cast<std::int64_t>(tracks.data.size() + tracks.acks.size());
        state.carry[i] +=
            state.rate[i] * static_cast<double>(dt) - static_cast<double>(state.packets[i]);
    }
    for (std::size_t i = 0; dt > 0 && i < state.group.flows.size(); ++i) {
        engine_.advance_law(state.group.flows[i], dt, state.packets[i], state.marked[i],
                            state.until);
    }
    if (dt > 0) {
        wake_as_told(state);
        bytes += queues_.restore(state.watched,
                                 {state.group, state.rate, state.packets, dt, state.until,
                                  state.period, state.rtt, copies()},
                                 statistics_.restoration);
    }
    engine_.settle(state.group);
    if (acks_ == nullptr) {
        paused_.resume(state.group.hosts);
    }
    if (watcher_ != nullptr) {
        watcher_->after_skip(watched(state, state.since, state.until), state.packets);
    }
    statistics_.hops_saved += copies() * static_cast<std::uint64_t>(hops);
    steady_.add(copies() * state.group.flows.size(), dt);
    statistics_.steady_flow_s = steady_.in_seconds();
    state.skipping = false;
    state.skipped += dt;
    state.detector.resumed(dt);
    statistics_.bytes_skipped += static_cast<std::int64_t>(copies()) * bytes;
    if (dt > 0) {
        emit(PhaseRecord{state.id, Phase::steady, state.since, state.until, why,
                         state.flows_at_start, bytes, hops});
    }
    state.since = state.until;
    state.flows_at_start = static_cast<std::uint32_t>(state.group.flows.size());
}

}  // namespace sluice::hybrid
