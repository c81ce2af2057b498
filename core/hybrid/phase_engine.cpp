// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/phase_engine.h"

#include <algorithm>

#include "core/hybrid/stages/queue_editor.h"
#include "core/world/skip.h"
#include "core/world/told_flows.h"

namespace sluice::hybrid {

void PhaseEngine::decide(PortId port, Tick now) {
    step::World& world = store_.world();
    const NodeId node = store_.topology().node_of(port);
    if (!store_.topology().is_host(node) && world.link[port].decision == kNever) {
        world.link[port].decision = step::next_decision(world.egress[port], now);
        step::refresh_wake(world, node);
    }
}

void PhaseEngine::shift(const Group& group, Tick dt) {
    step::World& world = store_.world();
    for (const PortId port : group.ports) {
        if (view_.executed_port(port) == port) {
            step::shift_port(world, port, dt);
        }
    }
    for (const FlowSlot flow : group.flows) {
        if (!view_.is_copy(flow)) {
            step::shift_flow(world, flow, dt);
        }
    }
    for (const NodeId host : group.hosts) {
        if (view_.executed_as(host) == host) {
            step::shift_host(world, host, dt);
            step::refresh_wake(world, host);
        }
    }
    for (const NodeId node : group.switches) {
        step::refresh_wake(world, node);
    }
}

void PhaseEngine::advance(FlowSlot flow, std::int64_t packets) {
    if (!view_.is_copy(flow)) {
        step::shorten_flow(store_.world(), flow, packets);
    }
}

void PhaseEngine::account(FlowSlot flow, std::int64_t packets) {
    if (view_.is_copy(flow)) {
        return;
    }
    const step::Footprint& way = view_.tracks(flow);
    const std::int64_t acks = step::ack_pace(store_.world().config->nic).of(packets);
    for (const PortId port : way.data) {
        store_.add_skipped(view_.executed_port(port), packets, packets * view_.data_bytes());
    }
    if (AckStreams* const streams = view_.ack_streams(); streams != nullptr) {
        streams->count_skipped(flow, acks);
        return;
    }
    for (const PortId port : way.acks) {
        store_.add_skipped(view_.executed_port(port), acks,
                           acks * store_.world().config->format.ack);
    }
}

void PhaseEngine::settle(const Group& group) {
    for (const PortId port : group.ports) {
        if (view_.executed_port(port) == port) {
            store_.settle_skipped(port);
        }
    }
}

void PhaseEngine::advance_law(FlowSlot flow, Tick dt, std::int64_t packets, double marked,
                              Tick now) {
    step::World& world = store_.world();
    if (view_.is_copy(flow)) {
        return;
    }
    if (step::advance_law(world, flow, dt, packets, marked, now)) {
        step::refresh_wake(world, world.spec[flow].src);
    }
}

void PhaseEngine::rescale_law(FlowSlot flow, double factor, Tick now) {
    step::World& world = store_.world();
    if (view_.is_copy(flow)) {
        return;
    }
    if (step::rescale_law(world, flow, factor, now)) {
        step::refresh_wake(world, world.spec[flow].src);
    }
}

void PhaseEngine::resume_law(FlowSlot flow, double factor, const congestion::UpdatePhase& phase,
                             Tick now) {
    step::World& world = store_.world();
    if (!view_.is_copy(flow) && step::resume_law(world, flow, factor, phase, now)) {
        step::refresh_wake(world, world.spec[flow].src);
    }
}

void PhaseEngine::forget_records(FlowSlot flow) {
    if (!view_.is_copy(flow)) {
        step::forget_records(store_.world(), flow);
    }
}

RestoredQueues PhaseEngine::set_queues(const Group& group, const Skipped& skip,
                                       const std::vector<PortId>& ports,
                                       const std::vector<double>& wanted, Tick now) {
    return QueueEditor(store_, partitions_, group, skip).set(ports, wanted, now);
}

RestoredQueues PhaseEngine::thin(const Group& group, const Skipped& skip,
                                 const std::vector<double>& part, Tick now) {
    const bool has_trains = store_.world().train > 1;  // which are no packets of one sequence each
    return has_trains ? RestoredQueues{}
                      : QueueEditor(store_, partitions_, group, skip).thin(part, now);
}

bool PhaseEngine::may_tell(FlowSlot flow) const {
    const step::World& world = store_.world();
    const step::Sender& sender = view_.sender(flow);
    return world.answers != nullptr && world.answer_takes[flow] != kNever &&
           world.credit == nullptr && sender.next < sender.packets &&
           step::stands_alone(world, flow);
}

void PhaseEngine::tell(FlowSlot flow, Tick finish, Tick now) {
    const Tick received = finish - store_.world().answer_takes[flow];
    step::tell_rest(store_, flow, view_.tracks(flow).data, std::max(received, now), finish, now);
}

bool PhaseEngine::run_calls(NodeId host, Tick at) {
    step::World& world = store_.world();
    return step::run_paused_timers(world, host, at,
                                   [&](FlowSlot flow) { return !step::must_wait(world, flow); });
}

bool PhaseEngine::run_calls_to_start(NodeId host, Tick at) {
    return step::run_paused_timers(store_.world(), host, at, [](FlowSlot) { return true; });
}

}  // namespace sluice::hybrid
