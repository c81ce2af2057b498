// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_sampler.h"

#include <algorithm>

#include "core/sorted.h"

namespace sluice::hybrid {

/// Partitions whose flows are the group's.
template <class Visit>
void GroupSampler::each_partition(const GroupState& state, Visit&& visit) const {
    if (config_.scope == PhaseScope::network) {
        for (const PartitionId id : partitions_.set().partitions()) {
            visit(id);
        }
    } else {
        visit(state.id);
    }
}

void GroupSampler::list(GroupState& state, const Deferral& deferral) {
    Group& group = state.group;
    group = Group{};
    each_partition(state, [&](PartitionId id) {
        for (const FlowSlot flow : partitions_.set().flows(id)) {
            if (view_.active(flow) && deferral.is_executed(flow)) {
                group.flows.push_back(flow);
            }
        }
    });
    view_.sort(group.flows);
    state.has_extent = false;
    state.dirty = false;
    state.skipped = 0;
    state.carry.assign(group.flows.size(), 0);
    state.readings.resize(group.flows.size());
    state.queue_ports.clear();
    steady::GroupFacts facts;
    facts.congestion = view_.law();
    facts.payload = view_.payload();
    facts.flows = group.flows.size();
    for (const FlowSlot flow : group.flows) {
        facts.base_rtt = std::max(facts.base_rtt, view_.base_rtt(flow));
        facts.line_rate = std::max(facts.line_rate, view_.line_rate(flow));
        facts.lag = std::max(facts.lag, view_.skipped(flow));
        if (state.detector->reads_queues()) {
            // A NIC's own port holds no data but what it sends next.
            const std::vector<PortId>& data = view_.tracks(flow).data;
            state.queue_ports.insert(state.queue_ports.end(), data.begin() + (data.empty() ? 0 : 1),
                                     data.end());
        }
    }
    sort_unique(state.queue_ports);
    facts.ports = state.queue_ports.size();
    facts.sharing = state.sharing = loads_.most_sharing(group);
    facts.counters = loads_.most_counters(group, state.sharing);
    state.queues.resize(state.queue_ports.size());
    state.rtt = facts.base_rtt;
    state.last_progress = 0;
    state.period = std::max<Tick>(steady::sampling_period(facts), 1);
    state.detector->reset(facts);
    for (SkipStage* const stage : stages_) {
        stage->list(state, facts);
    }
}

void GroupSampler::list_extent(GroupState& state) const {
    Group& group = state.group;
    group.ports.clear();
    group.hosts.clear();
    group.switches.clear();
    each_partition(state, [&](PartitionId id) {
        const step::Extent extent = partitions_.extent(id);
        group.ports.insert(group.ports.end(), extent.ports.begin(), extent.ports.end());
        group.hosts.insert(group.hosts.end(), extent.hosts.begin(), extent.hosts.end());
        group.switches.insert(group.switches.end(), extent.switches.begin(), extent.switches.end());
    });
    if (config_.scope == PhaseScope::network) {
        // Partitions share no port and no host, but they do share switches.
        sort_unique(group.switches);
    }
    state.has_extent = true;
}

/// A group of which nothing was acknowledged since the last look (time-outs run, or a pause): it is
/// looked at again after half as long as it has stood already, and then from the start.
bool GroupSampler::stands_still(GroupState& state, Tick at) {
    Tick last = 0;
    for (const steady::FlowReading& reading : state.readings) {
        last = std::max(last, reading.progress);
    }
    const bool still = last <= state.last_progress;
    state.last_progress = last;
    const Tick stood = at - state.skipped - last;
    if (!still || stood <= 2 * state.rtt) {
        return false;
    }
    state.dirty = true;
    state.changed = at;
    groups_.set_cut(state,
                    next_on_grid(at + std::max(stood / 2, groups_.settling_time()), state.period));
    return true;
}

steady::Verdict GroupSampler::sample(GroupState& state, Tick at) {
    groups_.set_cut(state, next_on_grid(at, state.period));
    if (state.group.flows.empty()) {
        return {};
    }
    report_.counters().samples += report_.times();
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        state.readings[i] = view_.reading(state.group.flows[i]);
        state.readings[i].progress -= state.skipped;
    }
    for (std::size_t i = 0; i < state.queue_ports.size(); ++i) {
        state.queues[i] = view_.queue_bytes(state.queue_ports[i]);
    }
    if (stands_still(state, at)) {
        return {};
    }
    for (SkipStage* const stage : stages_) {
        stage->observe(state, at);
    }
    state.detector->add(at - state.skipped, state.readings, state.queues);
    steady::Verdict verdict = state.detector->judge();
    for (std::size_t i = 0; config_.skip && !verdict.steady && i < stages_.size(); ++i) {
        verdict.steady = stages_[i]->recognize(state, verdict, at);
    }
    return verdict;
}

}  // namespace sluice::hybrid
