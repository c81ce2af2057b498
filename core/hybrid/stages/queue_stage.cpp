// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/queue_stage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/hybrid/stages/stage_list.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// A quarter of what a queue is measured in: where it begins to mark, under laws that react to marks, else
/// what its link carries in a base round trip.
double quarter_unit(const PortPast& past, bool reacts_to_marks) {
    const double bdp =
        static_cast<double>(past.rate) / kBitsPerByteAndTick * static_cast<double>(past.base_rtt);
    return (reacts_to_marks && past.mark_bytes > 0 ? static_cast<double>(past.mark_bytes) : bdp) /
           4;
}

}  // namespace

void QueueStage::list(GroupState& state, const steady::GroupFacts& /*facts*/) {
    WatchedQueues& queues = state.watched;
    queues.ports.clear();
    queues.looks = 0;
    if (restorer_ == nullptr) {
        return;
    }
    for (const FlowSlot flow : state.group.flows) {
        const std::vector<PortId>& data = view_.tracks(flow).data;
        queues.ports.insert(queues.ports.end(), data.begin() + (data.empty() ? 0 : 1), data.end());
    }
    std::sort(queues.ports.begin(), queues.ports.end());
    queues.ports.erase(std::unique(queues.ports.begin(), queues.ports.end()), queues.ports.end());
    queues.depth.assign(restorer_->looks() * queues.ports.size(), 0);
}

void QueueStage::observe(GroupState& state, Tick /*at*/) {
    WatchedQueues& queues = state.watched;
    if (queues.ports.empty() || restorer_->looks() == 0) {
        return;
    }
    double* const row =
        queues.depth.data() + queues.looks % restorer_->looks() * queues.ports.size();
    for (std::size_t i = 0; i < queues.ports.size(); ++i) {
        row[i] = static_cast<double>(view_.queue_bytes(queues.ports[i]));
    }
    ++queues.looks;
}

/// Of the ports that held a data packet as the group was last looked at, or before: what waits behind ACKs
/// alone is nothing that a restorer could change.
std::vector<PortPast> QueueStage::pasts_of(const GroupState& state) const {
    const WatchedQueues& queues = state.watched;
    const std::size_t wanted = restorer_->looks();
    const std::size_t known = std::min(queues.looks, wanted);
    const auto data = static_cast<double>(view_.data_bytes());
    std::vector<PortPast> pasts;
    for (std::size_t i = 0; known > 0 && i < queues.ports.size(); ++i) {
        PortPast past = view_.describe(queues.ports[i]);
        for (std::size_t look = queues.looks - known; look < queues.looks; ++look) {
            past.depth.push_back(queues.depth[look % wanted * queues.ports.size() + i]);
        }
        if (std::all_of(past.depth.begin(), past.depth.end(),
                        [&](double depth) { return depth < data; })) {
            continue;
        }
        past.step = state.period;
        past.skipped = state.until - state.since;
        past.base_rtt = state.rtt;
        pasts.push_back(std::move(past));
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        for (const PortId port : view_.tracks(state.group.flows[i]).data) {
            const auto past =
                std::lower_bound(pasts.begin(), pasts.end(), port,
                                 [](const PortPast& a, PortId b) { return a.port < b; });
            if (past != pasts.end() && past->port == port) {
                ++past->flows;
                past->load +=
                    state.rate[i] * data * kBitsPerByteAndTick / static_cast<double>(past->rate);
            }
        }
    }
    return pasts;
}

std::int64_t QueueStage::restore(GroupState& state) {
    if (restorer_ == nullptr) {
        return 0;
    }
    const std::size_t times = report_.times();
    RestorationCounters& counters = report_.counters().restoration;
    const std::vector<PortPast> pasts = pasts_of(state);
    counters.ports += times * state.watched.ports.size();
    counters.asked += times * pasts.size();
    if (pasts.empty()) {
        return 0;
    }
    const std::vector<double> wanted = restorer_->depths(pasts);
    const bool marks = congestion::traits(view_.law().law).reacts_to_marks;
    std::vector<PortId> ports(pasts.size());
    for (std::size_t i = 0; i < pasts.size(); ++i) {
        ports[i] = pasts[i].port;
        if (!(wanted.at(i) >= 0 && wanted[i] < 1e18)) {
            throw InternalError("phases.restore: a queue of " + std::to_string(wanted[i]) +
                                " bytes for port " + std::to_string(ports[i]));
        }
        const double moved = std::abs(wanted[i] - pasts[i].depth.back());
        counters.moved += moved > quarter_unit(pasts[i], marks) ? times : 0;
    }
    const RestoredQueues restored = engine_.set_queues(
        state.group, Skipped{state.rate, state.packets, state.until - state.since}, ports, wanted,
        state.until);
    counters.placed += static_cast<std::int64_t>(times) * restored.placed;
    counters.taken_out +=
        static_cast<std::int64_t>(times) * (restored.delivered + restored.given_back);
    return restored.delivered * view_.payload();
}

void QueueStage::rename(GroupState& state, const Names& /*flows*/, const Names& ports) {
    for (PortId& port : state.watched.ports) {
        port = copy_of(ports, port);
    }
}

std::unique_ptr<SkipStage> make_queue_stage(StageContext& context) {
    return std::make_unique<QueueStage>(context.parts.engine, context.restorer,
                                        context.parts.report);
}

}  // namespace sluice::hybrid
