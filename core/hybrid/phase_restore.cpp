// SPDX-License-Identifier: Apache-2.0
/// Queues at the end of a skip: what the restorer is told of them, and what it says.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/hybrid/phase_state.h"

namespace sluice::hybrid {

namespace {

/// A quarter of what a queue is measured in: where it begins to mark, under laws that react to marks, else
/// what its link carries in a base round trip.
double quarter_unit(const PortPast& past, bool reacts_to_marks) {
    const double bdp = static_cast<double>(past.rate) / 8e12 * static_cast<double>(past.base_rtt);
    return (reacts_to_marks && past.mark_bytes > 0 ? static_cast<double>(past.mark_bytes) : bdp) /
           4;
}

}  // namespace

/// Lists the switch ports by which the group's data leave.
void PhaseController::watch_queues(State& state) {
    state.watched.clear();
    state.looks = 0;
    if (restorer_ == nullptr) {
        return;
    }
    for (const FlowSlot flow : state.group.flows) {
        const std::vector<PortId>& data = engine_.tracks(flow).data;
        state.watched.insert(state.watched.end(), data.begin() + (data.empty() ? 0 : 1),
                             data.end());
    }
    std::sort(state.watched.begin(), state.watched.end());
    state.watched.erase(std::unique(state.watched.begin(), state.watched.end()),
                        state.watched.end());
    state.depth.assign(restorer_->looks() * state.watched.size(), 0);
}

void PhaseController::look_at_queues(State& state) {
    if (state.watched.empty() || restorer_->looks() == 0) {
        return;
    }
    double* const row =
        state.depth.data() + state.looks % restorer_->looks() * state.watched.size();
    for (std::size_t i = 0; i < state.watched.size(); ++i) {
        row[i] = static_cast<double>(engine_.queue_bytes(state.watched[i]));
    }
    ++state.looks;
}

/// Of the ports that held a data packet as the group was last looked at, or before: what waits behind ACKs
/// alone is nothing that a restorer could change.
std::vector<PortPast> PhaseController::pasts_of(const State& state, Tick dt) {
    const std::size_t wanted = restorer_->looks();
    const std::size_t known = std::min(state.looks, wanted);
    const auto data = static_cast<double>(engine_.data_bytes());
    std::vector<PortPast> pasts;
    for (std::size_t i = 0; known > 0 && i < state.watched.size(); ++i) {
        PortPast past = engine_.describe(state.watched[i]);
        for (std::size_t look = state.looks - known; look < state.looks; ++look) {
            past.depth.push_back(state.depth[look % wanted * state.watched.size() + i]);
        }
        if (std::all_of(past.depth.begin(), past.depth.end(),
                        [&](double depth) { return depth < data; })) {
            continue;
        }
        past.step = state.period;
        past.skipped = dt;
        past.base_rtt = state.rtt;
        pasts.push_back(std::move(past));
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        for (const PortId port : engine_.tracks(state.group.flows[i]).data) {
            const auto past =
                std::lower_bound(pasts.begin(), pasts.end(), port,
                                 [](const PortPast& a, PortId b) { return a.port < b; });
            if (past != pasts.end() && past->port == port) {
                ++past->flows;
                past->load += state.rate[i] * data * 8e12 / static_cast<double>(past->rate);
            }
        }
    }
    return pasts;
}

/// Returns the payload that was delivered besides.
std::int64_t PhaseController::restore_queues(State& state, Tick dt) {
    if (restorer_ == nullptr) {
        return 0;
    }
    const std::vector<PortPast> pasts = pasts_of(state, dt);
    RestorationCounters& counters = statistics_.restoration;
    counters.ports += copies() * state.watched.size();
    counters.asked += copies() * pasts.size();
    if (pasts.empty()) {
        return 0;
    }
    const std::vector<double> wanted = restorer_->depths(pasts);
    const bool marks = congestion::traits(engine_.law().law).reacts_to_marks;
    std::vector<PortId> ports(pasts.size());
    for (std::size_t i = 0; i < pasts.size(); ++i) {
        ports[i] = pasts[i].port;
        if (!(wanted.at(i) >= 0 && wanted[i] < 1e18)) {
            throw InternalError("phases.restore: a queue of " + std::to_string(wanted[i]) +
                                " bytes for port " + std::to_string(ports[i]));
        }
        const double moved = std::abs(wanted[i] - pasts[i].depth.back());
        counters.moved += moved > quarter_unit(pasts[i], marks) ? copies() : 0;
    }
    const RestoredQueues restored = engine_.set_queues(
        state.group, Skipped{state.rate, state.packets, dt}, ports, wanted, state.until);
    counters.placed += static_cast<std::int64_t>(copies()) * restored.placed;
    counters.taken_out +=
        static_cast<std::int64_t>(copies()) * (restored.delivered + restored.given_back);
    return restored.delivered * engine_.payload();
}

}  // namespace sluice::hybrid
