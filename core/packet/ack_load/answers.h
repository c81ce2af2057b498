// SPDX-License-Identifier: Apache-2.0
/// ACKs and NACKs that are no packets: each reaches its flow's source as long after it was made as the way
/// back takes, which whoever sets World::answer_takes has computed. An answer does not overtake the one
/// before. Where World::answers is null, answers are packets. In a shared window those to another worker's
/// host wait in a list of the worker's.
#pragma once

#include "core/packet/arrivals.h"
#include "core/packet/timers.h"

namespace sluice::step {

/// The flow's first answer under way comes up at its source's timer.
SLUICE_HD inline void await_answer(World& world, FlowSlot flow) {
    Wire& way = world.answers[flow];
    const Tick at = way.front().time + way.base;
    const NodeId source = world.spec[flow].src;
    push_timer(world.memory, world.host[source],
               Timer{at, TimerKind::answer, flow, world.id[flow]});
    wake_cell(world, world.home[source], at);
}

/// Puts an answer on its way that arrives at its source at `at`, not before those ahead of it.
SLUICE_HD inline void put_answer(World& world, const Packet& answer, Tick at) {
    Wire& way = world.answers[answer.flow];
    const bool first = way.empty();
    Tick time = at - way.base;
    if (!first && way.at(way.tail - 1).time > time) {
        time = way.at(way.tail - 1).time;
    }
    Packet* const slot = way.push(world.memory, answer);
    if (slot == nullptr) {
        return;
    }
    slot->time = time;
    if (first) {
        await_answer(world, answer.flow);
    }
}

/// Sends an answer made at `now` on its way.
SLUICE_HD inline void send_answer(World& world, const Packet& answer, Tick now) {
    const Tick takes = world.answer_takes[answer.flow];
    if (takes == kNever) {
        const NodeId from = world.spec[answer.flow].dst;
        lose(world, world.egress[world.first_port[from]], &Egress::drops_no_way);
        return;
    }
    if (world.shared && world.owner[world.spec[answer.flow].src] != world.number) {
        Packet waiting = answer;
        waiting.time = now + takes;
        world.answers_out.push(world.memory, waiting);
        return;
    }
    put_answer(world, answer, now + takes);
}

/// The answer for which the timer of `flow` came up at `now`.
SLUICE_HD inline Packet take_answer(World& world, FlowSlot flow, Tick now) {
    Wire& way = world.answers[flow];
    const Packet answer = way.front();
    way.pop();
    if (!way.empty()) {
        prefetch_int(world, way.front());
        await_answer(world, flow);
    }
    if (now > world.last_answer) {
        world.last_answer = now;
    }
    return answer;
}

}  // namespace sluice::step
