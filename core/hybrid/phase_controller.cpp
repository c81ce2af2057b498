// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/phase_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/sorted.h"

namespace sluice::hybrid {

PhaseController::PhaseController(PhaseEngine& engine, const step::FlowPartitions& partitions,
                                 const RateSource* rates, Restorer* restorer,
                                 const PhaseConfig& config, Tick stop)
    : config_(config),
      stop_(stop),
      engine_(engine),
      partitions_(partitions),
      groups_(config_),
      members_(partitions, groups_, report_, config_),
      // What is drawn for each flow, or placed in one queue, is not the same for all that do the same, nor what a source of
      // rates makes of them to the last digit.
      notes_(partitions, groups_.phases(), restorer == nullptr && rates == nullptr),
      timers_(engine.view()),
      executor_(engine, groups_, timers_, report_, stage_list_),
      stages_(parts(), executor_, rates, restorer, stage_list_),
      sampler_(engine.view(), partitions, groups_, stages_.loads(), report_, stage_list_, config_),
      planner_(engine.view(), sampler_, stage_list_, config_, stop),
      copies_(engine.view(), partitions, groups_, sampler_, executor_, report_, stage_list_) {
    if (stages_.trajectories().is_active()) {
        groups_.look_early(engine.view().lookahead());
    }
}

void PhaseController::defer(Deferral& deferral) {
    deferral_ = &deferral;
    members_.defer(deferral);
    stage_list_.push_back(&deferral);
}

Tick PhaseController::next_cut() const {
    return std::min(
        {stages_.acks().next_cut(), groups_.next_cut(), deferral_->next_cut(), timers_.next()});
}

void PhaseController::at_cut(Tick at) {
    report_.report_until(at);
    stages_.acks().at_cut(at);
    deferral_->at_cut(at);
    while (groups_.next_cut() <= at) {
        const Tick when = groups_.next_cut();
        for (const std::uint32_t id : groups_.take_next()) {
            if (groups_.is_due(id, when)) {
                copies_.together(groups_[id], [&](GroupState& lead) { look(lead, at); });
            }
        }
    }
    run_calls(at);
    renew_followers(at);
}

void PhaseController::look(GroupState& state, Tick at) {
    if (state.skipping) {
        end_plan(state, at);
        return;
    }
    stages_.acks().measure(state, at);
    if (state.dirty) {
        if (stages_.trajectories().is_active() && state.trajectory.formed != state.changed &&
            form(state, at)) {
            return;
        }
        if (at < state.changed + groups_.settling_time()) {
            groups_.set_cut(state, groups_.settled_after(state.changed));
            return;
        }
        sampler_.list(state, *deferral_);
    }
    const steady::Verdict verdict = sampler_.sample(state, at);
    if (stages_.trajectories().joins(state) && follow(state, at)) {
        return;
    }
    if (config_.skip && verdict.steady) {
        if (const Tick dt = planner_.plan(state, verdict, at); dt > 0) {
            executor_.begin(state, dt, at);
        }
    }
}

/// A skip has come to its end. A group of which a flow comes to its last packets is executed until they are gone. One of several
/// flows that had more to follow than others have done forms anew, as what it has come to.
void PhaseController::end_plan(GroupState& state, Tick at) {
    executor_.commit(state);
    if (const auto ends = stages_.trajectories().ends(state, at); !ends.empty()) {
        tell_ends(ends, at);
        return;
    }
    const TrajectoryRecord& record = state.trajectory;
    const bool followed = !record.flows.empty() && record.last != kNone;
    const bool ends = followed && state.planned_end == PhaseEnd::finisher_near;
    if (!ends && follow(state, at)) {
        return;
    }
    groups_.set_cut(state, next_on_grid(at, state.period));
    if (followed && !ends) {
        stages_.trajectories().forget(state);
        groups_.changed(state, at + stages_.trajectories().refill(state, at), false);
    }
}

/// What is left of these flows is told. They part from their group, which forms anew at once.
void PhaseController::tell_ends(const std::vector<ToldEnd>& ends, Tick at) {
    for (const ToldEnd& end : ends) {
        engine_.tell(end.flow, end.finish, at);
        part_(end.flow, at);
    }
    for (const std::uint32_t id : std::exchange(parted_, {})) {
        if (GroupState* const state = groups_.find(id); state != nullptr && state->changed == at) {
            state->parted = true;
            groups_.set_cut(*state, at);
        }
    }
}

/// A group may follow others of its kind from the instant on at which it forms. True if it does, or it is too early to say.
bool PhaseController::form(GroupState& state, Tick at) {
    // However time is cut, the window in which it has changed has ended by then. Flows part between windows.
    const Tick formed = state.changed + (state.parted ? 0 : engine_.view().lookahead());
    if (at < formed) {
        groups_.set_cut(state, formed);
        return true;
    }
    if (partitions_.set().flows(state.id).size() > TrajectoryKinds::kMostFlows) {
        TrajectoryStage::leave_out(state);
        return false;
    }
    sampler_.list(state, *deferral_);
    if (!stages_.trajectories().carry_on(state, at)) {
        stages_.trajectories().form(state, at);
    }
    const bool follows = follow(state, at);
    state.dirty = !follows;
    return follows;
}

/// True if the group skips from now on, as a recorded one has gone on.
bool PhaseController::follow(GroupState& state, Tick at) {
    if (!stages_.trajectories().follow(state, at)) {
        return false;
    }
    const std::size_t flows = state.group.flows.size();
    steady::Verdict verdict;
    verdict.steady = true;
    verdict.rate.assign(flows, 0);
    verdict.marked.assign(flows, 0);
    const Tick dt = planner_.plan(state, verdict, at);
    if (dt > 0) {
        executor_.begin(state, dt, at);
    } else {
        state.trajectory.follows = false;
    }
    return dt > 0;
}

/// What ACKs leave to some groups has changed. Those that follow others go on with that, and so their ACKs change what is left
/// to further ones, ever less.
void PhaseController::renew_followers(Tick at) {
    std::vector<PortId> ports = stages_.acks().take_changed();
    for (; stages_.trajectories().is_active() && !ports.empty();
         ports = stages_.acks().take_changed()) {
        sort_unique(ports);
        for (const PortId port : ports) {
            const PartitionId id = partitions_.sends_by(port);
            GroupState* const state = id == kNone ? nullptr : groups_.find(id);
            if (state != nullptr && state->skipping && state->trajectory.follows &&
                stages_.trajectories().is_outdated(*state, at)) {
                executor_.skip_back(*state, at, PhaseEnd::acks_changed);
                if (!follow(*state, at)) {
                    stages_.trajectories().forget(*state);
                    groups_.changed(*state, at, false);
                }
            }
        }
    }
}

void PhaseController::before_entry(FlowSlot flow, const std::vector<PartitionId>& touched,
                                   Tick now) {
    report_.report_until(now);
    ++report_.counters().entries;
    deferral_->before_entry(flow, now);
    if (config_.scope == PhaseScope::network) {
        copies_.make_way(0, now);  // whatever enters the network ends its phase
    }
    for (const PartitionId id : touched) {
        copies_.make_way(groups_.id_of(id), now);
    }
}

void PhaseController::after_entry(FlowSlot flow, const PartitionSet::Entry& entry, Tick now) {
    copies_.partitions_changed();
    stages_.acks().enter(flow, now);
    if (engine_.view().active(flow)) {
        groups_.leave_alone_for(engine_.view().base_rtt(flow));
    }
    PhaseStatistics& counters = report_.counters();
    counters.merges += entry.absorbed.size();
    counters.most_partitions = std::max(counters.most_partitions, partitions_.set().count());
    counters.largest_partition =
        std::max(counters.largest_partition, partitions_.set().flows(entry.partition).size());
    members_.enter(entry, now);
    deferral_->after_entry(flow, now);
    members_.changed(groups_.id_of(entry.partition), now);
}

bool PhaseController::leaves_out() const {
    bool skipping = deferral_->next_cut() != kNever;
    groups_.each([&](const GroupState& state) { skipping = skipping || state.skipping; });
    return skipping;
}

void PhaseController::after_exit(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                                 Tick now) {
    leave_group(flow, from, exit, now);
    after_told(flow, now);
}

void PhaseController::after_parting(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                                    Tick now) {
    leave_group(flow, from, exit, now);
    if (exit.partition != kNone) {
        parted_.push_back(exit.partition);
        parted_.insert(parted_.end(), exit.split_off.begin(), exit.split_off.end());
    }
}

void PhaseController::leave_group(FlowSlot flow, PartitionId from, const PartitionSet::Exit& exit,
                                  Tick now) {
    copies_.partitions_changed();
    report_.counters().splits += exit.split_off.size();
    deferral_->after_exit(flow, now);
    members_.leave(from, exit, now);
}

void PhaseController::after_told(FlowSlot flow, Tick now) {
    ++report_.counters().exits;
    stages_.watchers().left(flow);
    stages_.acks().leave(flow, now);
}

void PhaseController::interrupted(const std::vector<PartitionId>& touched, Tick now) {
    for (const PartitionId id : touched) {
        copies_.make_way(groups_.id_of(id), now);
    }
}

void PhaseController::before_link_event(Tick now) {
    deferral_->release_all(now);
    stages_.trajectories().links_change();
    groups_.each([&](GroupState& state) {
        if (state.skipping) {
            executor_.skip_back(state, now, PhaseEnd::link_event);
        }
        members_.changed(state.id, now);
    });
}

void PhaseController::disturbed(PortId port, Tick now) {
    stages_.acks().wake_port(port, now);
    engine_.decide(port, now);
}

void PhaseController::run_calls(Tick at) {
    while (timers_.next() <= at) {
        const NodeId host = timers_.take();
        const std::uint32_t by = timers_.paused_by(host);
        const bool deferred = by == HostTimers::kDeferred;
        bool starts = false;
        if (deferred) {
            deferral_->run_calls(host, at);
        } else {
            starts = engine_.run_calls(host, at);
        }
        take_up_separated();  // copies may have left the host
        if (starts) {
            copies_.make_way(by, at);
        } else if (!deferred) {
            timers_.await(host);
        }
    }
}

step::CopyNotes* PhaseController::copy_notes() {
    const bool may_fold =
        config_.scope == PhaseScope::partition && engine_.view().ack_streams() == nullptr;
    return may_fold ? &notes_ : nullptr;
}

void PhaseController::take_up_separated() {
    for (const step::FlowPairs& flows : std::exchange(notes_.separated, {})) {
        deferral_->take_up(flows);
        copies_.take_up(flows);
    }
}

void PhaseController::finish(Tick now) {
    deferral_->release_all(now);
    groups_.each([&](GroupState& state) {
        if (state.skipping) {
            executor_.skip_back(state, now, PhaseEnd::run_end);
        }
        report_.end_unsteady(state, now, PhaseEnd::run_end);
        state.since = now;
    });
    report_.report_until(kNever);
    stages_.calibration().finish(now);
    stages_.trajectories().known().save(now);
    stages_.acks().finish();
}

}  // namespace sluice::hybrid
