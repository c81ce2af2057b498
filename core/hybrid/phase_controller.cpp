// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/phase_controller.h"

#include <algorithm>

#include "core/hybrid/phase_episodes.h"
#include "core/hybrid/phase_state.h"

namespace sluice::hybrid {

PhaseController::PhaseController(PhaseEngine& engine, const step::FlowPartitions& partitions,
                                 const RateSource* rates, Restorer* restorer,
                                 const PhaseConfig& config, Tick stop)
    : engine_(engine),
      acks_(engine.ack_streams()),
      partitions_(partitions),
      rates_(rates),
      queues_(engine, restorer),
      loads_(engine),
      config_(config),
      stop_(stop) {
    describe_ = [this](PortId port) { return engine_.describe_for_episode(port); };
}

PhaseController::~PhaseController() = default;

std::uint32_t PhaseController::group_of(PartitionId id) const {
    return config_.scope == PhaseScope::network ? 0 : id;
}

PhaseController::State& PhaseController::open(std::uint32_t id, Tick now) {
    if (groups_.size() <= id) {
        groups_.resize(id + 1);
    }
    if (groups_[id] == nullptr) {
        groups_[id] = std::make_unique<State>(config_.detector);
        groups_[id]->id = id;
        groups_[id]->since = now;
        groups_[id]->born = now;
    }
    return *groups_[id];
}

void PhaseController::close(std::uint32_t id, Tick now, PhaseEnd why) {
    State& state = *groups_[id];
    report(state, Phase::unsteady, now, why);
    set_cut(state, kNever);
    groups_[id].reset();
}

void PhaseController::set_cut(State& state, Tick at) {
    if (state.cut != at) {
        state.cut = at;
        if (at != kNever) {
            cuts_[at].push_back(state.id);
        }
        drop_old_cuts();
    }
}

bool PhaseController::is_due(std::uint32_t id, Tick at) const {
    return groups_[id] != nullptr && groups_[id]->cut == at;
}

void PhaseController::drop_old_cuts() {
    while (!cuts_.empty()) {
        const Tick at = cuts_.begin()->first;
        std::vector<std::uint32_t>& groups = cuts_.begin()->second;
        while (!groups.empty() && !is_due(groups.back(), at)) {
            groups.pop_back();
        }
        if (!groups.empty()) {
            return;
        }
        cuts_.erase(cuts_.begin());
    }
}

void PhaseController::changed(std::uint32_t id, Tick now) {
    State& state = *groups_[id];
    if (state.dirty && state.cut != kNever && !rests(id)) {
        state.changed = now;  // it will be looked at; there the time since `changed` is asked for
        return;
    }
    state.dirty = true;
    state.changed = now;
    if (rests(id)) {
        set_cut(state, kNever);
        return;
    }
    set_cut(state, next_on_grid(now + quiet_time_, std::max<Tick>(quiet_time_ / 4, 1)));
}

Tick PhaseController::next_cut(PartitionId id) const {
    const std::uint32_t group = group_of(id);
    return group < groups_.size() && groups_[group] != nullptr ? groups_[group]->cut : kNever;
}

Tick PhaseController::next_cut() const {
    return std::min({left_cut_, cuts_.empty() ? kNever : cuts_.begin()->first, next_episode_cut(),
                     paused_.next()});
}

void PhaseController::at_cut(PartitionId id, Tick at) {
    State& state = *groups_[group_of(id)];
    if (state.cut <= at) {
        look(state, at);
    }
}

void PhaseController::at_cut(Tick at) {
    log_.report_until(at);
    if (left_cut_ <= at) {
        drop_left_streams(at);
    }
    look_at_episodes(at);
    while (!cuts_.empty() && cuts_.begin()->first <= at) {
        const Tick when = cuts_.begin()->first;
        std::vector<std::uint32_t> groups = std::move(cuts_.begin()->second);
        cuts_.erase(cuts_.begin());
        look_at(std::move(groups), when, at);
    }
    run_calls(at);
}

void PhaseController::before_entry(FlowSlot flow, const std::vector<PartitionId>& touched,
                                   Tick now) {
    log_.report_until(now);
    ++statistics_.entries;
    if (episodes_ != nullptr) {
        meet_episodes(flow, now);
    }
    const auto disturb = [&](std::uint32_t id) {
        if (id < groups_.size() && groups_[id] != nullptr && groups_[id]->skipping) {
            skip_back_together(*groups_[id], now, PhaseEnd::flow_entered);
        }
    };
    if (config_.scope == PhaseScope::network) {
        disturb(0);  // whatever enters the network ends its phase
    }
    for (const PartitionId id : touched) {
        disturb(group_of(id));
    }
    if (config_.wake == Wake::neighbours && acks_ != nullptr) {
        disturb_neighbours(partitions_.footprint(flow).acks, now);
    }
}

void PhaseController::after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now) {
    ++partition_generation_;
    enter_streams(flow, now);
    if (engine_.active(folding_ == nullptr ? flow : folding_->leader_of(flow))) {
        quiet_time_ = std::max(quiet_time_, engine_.base_rtt(flow));
    }
    statistics_.merges += entry.absorbed.size();
    statistics_.most_partitions = std::max(statistics_.most_partitions, partitions_.set().count());
    statistics_.largest_partition =
        std::max(statistics_.largest_partition, partitions_.set().flows(entry.partition).size());
    if (config_.scope == PhaseScope::partition) {
        for (const PartitionId id : entry.absorbed) {
            close(id, now, PhaseEnd::merged);
        }
    }
    const std::uint32_t id = group_of(entry.partition);
    State& state = open(id, now);
    if (state.since == now) {
        ++state.flows_at_start;
    }
    if (episodes_ != nullptr) {
        enter_episode(flow, now);
    }
    changed(id, now);
}

bool PhaseController::leaves_out() const {
    return next_episode_cut() != kNever ||
           std::any_of(groups_.begin(), groups_.end(), [](const std::unique_ptr<State>& state) {
               return state != nullptr && state->skipping;
           });
}

void PhaseController::after_close(FlowSlot /*flow*/, PartitionId id, Tick now) {
    changed(group_of(id), now);
}

void PhaseController::after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                                 Tick now) {
    ++partition_generation_;
    ++statistics_.exits;
    if (watcher_ != nullptr) {
        watcher_->left(flow);
    }
    statistics_.splits += exit.split_off.size();
    if (episodes_ != nullptr) {
        leave_episode(flow, now);
    }
    leave_group(from, exit, now);
    leave_streams(flow, now);
}

void PhaseController::leave_group(PartitionId from, const PartitionSet::Exit& exit, Tick now) {
    if (config_.scope == PhaseScope::network) {
        // Nothing leaves while everything is paused: the group is unsteady.
        partitions_.set().count() == 0 ? close(0, now, PhaseEnd::idle) : changed(0, now);
        return;
    }
    if (exit.partition == kNone) {
        close(from, now, PhaseEnd::idle);
        return;
    }
    changed(exit.partition, now);
    for (const PartitionId id : exit.split_off) {
        open(id, now).flows_at_start =
            static_cast<std::uint32_t>(partitions_.set().flows(id).size());
        changed(id, now);
    }
}

void PhaseController::before_link_event(Tick now) {
    release_all_episodes(now);
    for (const std::unique_ptr<State>& state : groups_) {
        if (state != nullptr && state->skipping) {
            skip_back(*state, now, PhaseEnd::link_event);
        }
        if (state != nullptr) {
            changed(state->id, now);
        }
    }
}

/// At those of `groups` that are still to be looked at `when`.
void PhaseController::look_at(std::vector<std::uint32_t> groups, Tick when, Tick at) {
    std::sort(groups.begin(), groups.end());
    for (const std::uint32_t id : groups) {
        if (is_due(id, when)) {
            look_together(*groups_[id], at);
        }
    }
}

void PhaseController::look(State& state, Tick at) {
    if (state.skipping) {
        commit(state, state.planned_end);
        set_cut(state, next_on_grid(at, state.period));
        return;
    }
    measure_streams(state, at);
    if (state.dirty) {
        if (at < state.changed + quiet_time_) {
            set_cut(state,
                    next_on_grid(state.changed + quiet_time_, std::max<Tick>(quiet_time_ / 4, 1)));
            return;
        }
        rebuild(state, at);
    }
    sample(state, at);
}

void PhaseController::rebuild(State& state, Tick /*at*/) {
    Group& group = state.group;
    group = Group{};
    const auto add = [&](PartitionId id) {
        for (const FlowSlot flow : partitions_.set().flows(id)) {
            if (engine_.active(flow) && is_executed(flow)) {
                group.flows.push_back(flow);
            }
        }
    };
    if (config_.scope == PhaseScope::network) {
        for (const PartitionId id : partitions_.set().partitions()) {
            add(id);
        }
    } else {
        add(state.id);
    }
    engine_.sort(group.flows);
    state.has_extent = false;
    state.dirty = false;
    state.skipped = 0;
    state.carry.assign(group.flows.size(), 0);
    state.readings.resize(group.flows.size());
    state.queue_ports.clear();
    state.data_ports = DataPorts{};
    steady::GroupFacts facts;
    facts.congestion = engine_.law();
    facts.payload = engine_.payload();
    facts.flows = group.flows.size();
    for (const FlowSlot flow : group.flows) {
        facts.base_rtt = std::max(facts.base_rtt, engine_.base_rtt(flow));
        facts.line_rate = std::max(facts.line_rate, engine_.line_rate(flow));
        facts.lag = std::max(facts.lag, engine_.skipped(flow));
        if (state.detector.reads_queues()) {
            // A NIC's own port holds no data but what it sends next.
            const std::vector<PortId>& data = engine_.tracks(flow).data;
            state.queue_ports.insert(state.queue_ports.end(), data.begin() + (data.empty() ? 0 : 1),
                                     data.end());
        }
    }
    std::sort(state.queue_ports.begin(), state.queue_ports.end());
    state.queue_ports.erase(std::unique(state.queue_ports.begin(), state.queue_ports.end()),
                            state.queue_ports.end());
    facts.ports = state.queue_ports.size();
    facts.sharing = state.sharing = loads_.most_sharing(group);
    facts.counters = loads_.most_counters(group, state.sharing);
    state.queues.resize(state.queue_ports.size());
    state.rtt = facts.base_rtt;
    state.last_progress = 0;
    state.period = std::max<Tick>(steady::sampling_period(facts), 1);
    state.detector.reset(facts);
    begin_record(state, facts);
    queues_.watch(state.watched, state.group);
}

/// A group of which nothing was acknowledged since the last look (time-outs run, or a pause): it is
/// looked at again after half as long as it has stood already, and then from the start.
bool PhaseController::stands_still(State& state, Tick at) {
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
    set_cut(state, next_on_grid(at + std::max(stood / 2, quiet_time_), state.period));
    return true;
}

void PhaseController::sample(State& state, Tick at) {
    set_cut(state, next_on_grid(at, state.period));
    if (state.group.flows.empty()) {
        return;
    }
    statistics_.samples += copies();
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        state.readings[i] = engine_.reading(state.group.flows[i]);
        state.readings[i].progress -= state.skipped;
    }
    for (std::size_t i = 0; i < state.queue_ports.size(); ++i) {
        state.queues[i] = engine_.queue_bytes(state.queue_ports[i]);
    }
    if (stands_still(state, at)) {
        return;
    }
    queues_.look(state.watched);
    record(state, at);
    state.detector.add(at - state.skipped, state.readings, state.queues);
    steady::Verdict verdict = state.detector.judge();
    if (config_.skip && (verdict.steady || is_recognized(state, verdict, at))) {
        plan(state, verdict, at);
    }
}

void PhaseController::run_calls(Tick at) {
    while (paused_.next() <= at) {
        const NodeId host = paused_.take();
        if (paused_.by(host) == kHeldHost) {
            run_held_calls(host, at);
            continue;
        }
        if (engine_.run_calls(host, at)) {
            skip_back_together(*groups_[paused_.by(host)], at, PhaseEnd::flow_entered);
            continue;
        }
        paused_.await(host, engine_.next_call(host));
    }
}

void PhaseController::call_set(NodeId host, Tick at) {
    paused_.await(engine_.executed_as(host), at);
}

void PhaseController::report(const State& state, Phase phase, Tick end, PhaseEnd why) {
    if (end > state.since) {
        emit(PhaseRecord{state.id, phase, state.since, end, why, state.flows_at_start, 0, 0});
    }
}

void PhaseController::finish(Tick now) {
    release_all_episodes(now);
    for (const std::unique_ptr<State>& state : groups_) {
        if (state == nullptr) {
            continue;
        }
        if (state->skipping) {
            skip_back(*state, now, PhaseEnd::run_end);
        }
        report(*state, Phase::unsteady, now, PhaseEnd::run_end);
        state->since = now;
    }
    log_.report_until(kNever);
    calibration_.leave(now);
    if (acks_ != nullptr) {
        for (const PartitionId id : partitions_.set().partitions()) {
            for (const FlowSlot flow : partitions_.set().flows(id)) {
                acks_->count(flow);
            }
        }
    }
}

}  // namespace sluice::hybrid
