// SPDX-License-Identifier: Apache-2.0
/// Queue pairs that carry several messages, each of which is a flow with a sender of its own.
/// Messages of one connection leave in the order in which they were started: a message comes into
/// service when the last byte of the one before has left the NIC, whether or not it is acknowledged.
/// If something of the messages before is still unacknowledged then, it takes the queue pair over as
/// it is: window, rate, pacing and the law's state go on, in one sequence space. An idle queue pair
/// begins anew. Messages complete in order at their sender.
/// All of it happens at the sender's host. Source: docs/models/nic.md.
#pragma once

#include "core/packet/timers.h"

namespace sluice::step {

/// Payload bytes before packet `index` of a flow of `size` bytes.
SLUICE_HD inline std::int64_t bytes_before(const World& world, std::uint32_t index,
                                           std::int64_t size) {
    const std::int64_t bytes = static_cast<std::int64_t>(index) * world.payload;
    return bytes < size ? bytes : size;
}

/// Payload bytes of packet `index`.
SLUICE_HD inline std::int64_t payload_of(const World& world, std::uint32_t index,
                                         std::int64_t size) {
    return bytes_before(world, index + 1, size) - bytes_before(world, index, size);
}

/// Null: the flow keeps to no order.
SLUICE_HD inline QueuePair* queue_pair_of(const World& world, FlowSlot flow) {
    const ConnectionId connection = world.spec[flow].queue();
    return connection == kNone ? nullptr : &world.queue_pair[connection];
}

/// All of a message that came into service has left its NIC at least once.
SLUICE_HD inline bool has_left(const World& world, FlowSlot flow) {
    if (world.sender_at[flow] == kNone) {
        return true;
    }
    const Sender& sender = sender_of(world, flow);
    return sender.high == sender.packets;
}

/// Whether `flow`, were it started now, would have to wait for other messages of its connection.
SLUICE_HD inline bool must_wait(const World& world, FlowSlot flow) {
    const QueuePair* const pair = queue_pair_of(world, flow);
    if (pair == nullptr || pair->current == kNone || world.following[pair->current] == flow) {
        return false;
    }
    return pair->last != pair->current || !has_left(world, pair->current);
}

/// Whether messages of `flow`'s connection that were started before are under way, or wait.
SLUICE_HD inline bool is_queue_busy(const World& world, FlowSlot flow) {
    const QueuePair* const pair = queue_pair_of(world, flow);
    return pair != nullptr && pair->current != kNone &&
           (pair->last != pair->current || world.sender_at[pair->current] != kNone);
}

/// `flow` is started: true if it comes into service now, else it waits.
SLUICE_HD inline bool take_turn(World& world, FlowSlot flow) {
    QueuePair* const pair = queue_pair_of(world, flow);
    if (pair == nullptr) {
        return true;
    }
    const bool waits = must_wait(world, flow);
    const bool waited = pair->current != kNone && world.following[pair->current] == flow;
    if (waits) {
        world.following[pair->last] = flow;
    }
    if (!waited) {
        pair->last = flow;
    }
    return !waits;
}

/// The last byte of `flow` leaves at `at`, for the first time: the next one's turn.
SLUICE_HD inline void pass_turn(World& world, NodeId node, FlowSlot flow, Tick at) {
    if (world.following[flow] != kNone) {
        const FlowSlot next = world.following[flow];
        schedule(world, node, Timer{at, TimerKind::flow_start, next, world.id[next]});
    }
}

/// The next departure of the sender is that of the message's last byte, for the first time.
SLUICE_HD inline bool is_last_departure(const Sender& sender) {
    return sender.next == sender.high && sender.high + 1 == sender.packets;
}

/// `flow` comes into service. Returns the place of the sender before it on its queue pair; kNone if that is
/// idle, or another one: what a law knows is about one path, which another source port may leave.
SLUICE_HD inline std::uint32_t come_into_service(World& world, FlowSlot flow) {
    QueuePair* const pair = queue_pair_of(world, flow);
    if (pair == nullptr) {
        return kNone;
    }
    const FlowSlot before = pair->current;
    pair->current = flow;
    const bool same = before != kNone && world.spec[before].sport == world.spec[flow].sport;
    return same ? world.sender_at[before] : kNone;
}

/// The host's sender `index`, just created, goes on where sender `open` is.
SLUICE_HD inline void take_over(World& world, Host& host, std::uint32_t index, std::uint32_t open) {
    Sender& sender = host.senders[index];
    Sender& before = host.senders[open];
    before.heir = index;
    sender.offset = before.offset + before.size;
    sender.behind = before.behind + before.size - before.una_bytes;
    sender.cc = before.cc;
    sender.window = before.window;
    sender.last_bytes = before.last_bytes;
    sender.last_gap = before.last_gap;
    if (before.next_avail > sender.next_avail) {
        sender.next_avail = before.next_avail;
    }
    // What is left to the one before is to send again what is lost, at the rate of now.
    congestion::start(before.cc, world.config->congestion, sender.cc.line_rate,
                      sender.cc.max_window, sender.cc.base_rtt,
                      static_cast<double>(sender.cc.products));
    before.cc.rate = sender.cc.rate;
}

/// `bytes` more of the host's sender `index` are acknowledged. Returns the one that has the queue pair now.
SLUICE_HD inline std::uint32_t credit_heirs(Host& host, std::uint32_t index, std::int64_t bytes) {
    while (host.senders[index].heir != kNone) {
        index = host.senders[index].heir;
        host.senders[index].behind -= bytes;
    }
    return index;
}

/// All of it is acknowledged, and of the messages before it.
SLUICE_HD inline bool is_complete(const Sender& sender) {
    return sender.una == sender.packets && sender.behind == 0;
}

}  // namespace sluice::step
