// SPDX-License-Identifier: Apache-2.0
#include "core/fold/copy_writer.h"

#include <algorithm>

#include "core/packet/buffer.h"
#include "core/packet/sender.h"
#include "core/world/skip.h"

namespace sluice::step {

namespace {

void empty(Ring& ring) { ring.head = ring.tail; }

/// Bytes of the shared buffer that a unit's packets take at the switch where they are counted.
std::int64_t shared_bytes(const World& world, const Buffer& buffer, PortId sender,
                          PortId receiver) {
    std::int64_t bytes = 0;
    for (std::uint32_t queue = 1; queue < kClasses; ++queue) {
        bytes += world.pfc ? shared_use(buffer, world.ingress[receiver], queue)
                           : std::int64_t{world.egress[sender].class_bytes[queue]};
    }
    return bytes;
}

}  // namespace

void CopyWriter::add_to_buffer(PortId image_sender, PortId image_receiver,
                               std::int64_t sign) const {
    // With PFC bytes are counted where they entered, without it where they wait.
    const PortId counted = world_.pfc ? image_receiver : image_sender;
    const NodeId node = store_.topology().node_of(counted);
    if (world_.is_host[node] == 0) {
        Buffer& buffer = world_.buffer[cell_of(world_, counted)];
        buffer.shared_used += sign * shared_bytes(world_, buffer, image_sender, image_receiver);
    }
}

std::uint64_t CopyWriter::copy_egress(PortId leader) const {
    const Egress& from = world_.egress[leader];
    const UnitBase& base = fold_.base[places_.unit[leader].index];
    const PortId port = names_.unit(leader);
    Egress& to = world_.egress[port];
    const std::int64_t sent = from.tx_packets - base.counters[&Egress::tx_packets];
    if (from.free_at != base.free_at) {
        to.free_at = from.free_at;
    }
    follow_fields(to, from, base.counters);
    const FrameCount skipped = store_.skipped(leader);
    if (skipped.packets != base.skipped.packets || skipped.bytes != base.skipped.bytes) {
        store_.add_skipped(port, skipped.packets - base.skipped.packets,
                           skipped.bytes - base.skipped.bytes);
    }
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        Ring& ring = to.queue[queue];
        Ring source = from.queue[queue];
        for (std::uint32_t at = source.head; at != source.tail; ++at) {
            ring.push(world_.memory, names_.packet(source.at(at), leader));
        }
    }
    if (!world_.pfc) {
        add_to_buffer(port, to.peer, 1);
    }
    const NodeId node = store_.topology().node_of(leader);
    if (world_.is_host[node] != 0) {
        const HostPort& round = world_.host_port[leader];
        HostPort& image = world_.host_port[port];
        for (std::uint32_t i = 0; i < round.sender.count; ++i) {
            image.sender.push(world_.memory, round.sender[i]);
            image.ready.push(world_.memory, round.ready[i]);
        }
        copy_fields(image, round);
    }
    world_.link[port].decision = world_.link[leader].decision;
    if (world_.link[port].decision != kNever) {
        wake_cell(world_, cell_of(world_, port), world_.link[port].decision);
    }
    return static_cast<std::uint64_t>(sent);
}

/// The leader's link may have slept meanwhile, and INT goes by what it has.
void CopyWriter::share_time(PortId leader) const {
    Wire& to = world_.link[world_.egress[names_.unit(leader)].peer];
    if (to.size() == 0) {
        to.base = world_.link[world_.egress[leader].peer].base;
    }
}

void CopyWriter::append(PortId leader, const Packet& packet) const {
    const Wire& from = world_.link[world_.egress[leader].peer];
    Wire& to = world_.link[world_.egress[names_.unit(leader)].peer];
    Packet copy = names_.packet(packet);
    copy.time += from.base - to.base;
    to.push(world_.memory, copy);
}

void CopyWriter::wake_for_link(PortId leader) const {
    const PortId receiver = world_.egress[names_.unit(leader)].peer;
    world_.link[receiver].arrival = next_arrival(world_.link[receiver]);
    if (world_.link[receiver].arrival != kNever) {
        wake_cell(world_, cell_of(world_, receiver), world_.link[receiver].arrival);
    }
}

void CopyWriter::copy_link(PortId leader) const {
    complete_link(leader, world_.link[world_.egress[leader].peer].size());
    copy_ingress(leader);
}

void CopyWriter::complete_link(PortId leader, std::uint32_t count) const {
    Wire& from = world_.link[world_.egress[leader].peer];
    share_time(leader);
    for (std::uint32_t at = from.tail - count; at != from.tail; ++at) {
        append(leader, from.at(at));
    }
    wake_for_link(leader);
}

void CopyWriter::restore_link(PortId leader, const std::vector<Packet>& waiting,
                              std::size_t taken) const {
    share_time(leader);
    for (std::size_t i = taken; i < waiting.size(); ++i) {
        append(leader, waiting[i]);
    }
    wake_for_link(leader);
}

void CopyWriter::copy_ingress(PortId leader) const {
    const PortId sender = names_.unit(leader);
    const PortId receiver = world_.egress[sender].peer;
    const Ingress& from = world_.ingress[world_.egress[leader].peer];
    Ingress& to = world_.ingress[receiver];
    std::copy_n(from.bytes, kClasses, to.bytes);
    to.total_bytes = from.total_bytes;
    if (world_.pfc) {
        add_to_buffer(sender, receiver, 1);
    }
}

void CopyWriter::still_unit(PortId leader) const {
    const PortId port = names_.unit(leader);
    Egress& egress = world_.egress[port];
    const PortId receiver = egress.peer;
    add_to_buffer(port, receiver, -1);
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        egress.class_bytes[queue] = 0;
        egress.deficit[queue] = 0;
        empty(egress.queue[queue]);
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
    world_.link[port].decision = kNever;
    world_.host_port[port].sender.count = 0;
    world_.host_port[port].ready.count = 0;
    empty(world_.link[receiver]);
    world_.link[receiver].arrival = kNever;
    Ingress& ingress = world_.ingress[receiver];
    std::fill_n(ingress.bytes, kClasses, 0U);
    ingress.total_bytes = 0;
}

/// A flow whose result has changed is one that has opened or closed.
void CopyWriter::note_change(FlowSlot image, const FlowResult& before) const {
    const FlowResult& now = world_.result[image];
    if (now.start != before.start || now.finish != before.finish) {
        world_.changed.push(world_.memory, image);
    }
    if (now.finish != before.finish) {
        world_.retransmitted += static_cast<std::uint64_t>(now.retransmitted);
        world_.resent_late += static_cast<std::uint64_t>(now.resent_late);
    }
}

/// `old`: only what the image has of packets that it has sent itself.
void CopyWriter::copy_int_slots(FlowSlot leader, bool old) const {
    const IntBlock& from = world_.route[leader].ints;
    const FlowSlot slot = names_.flow(leader);
    if (from.empty() || (old && world_.route[slot].ints.empty())) {
        return;
    }
    if (!old) {
        take_int_slots(world_, source_of(world_, slot), slot, from.mask() + 1);
    }
    const Renaming::IntUnits units = names_.int_units(leader);
    const std::uint32_t stride = world_.int_stride;
    const std::uint64_t renamed = int_tag(slot, 0) - int_tag(leader, 0);
    const congestion::IntRecord* source = from.words();
    congestion::IntRecord* target = world_.route[slot].ints.words();
    for (std::uint32_t i = 0; i <= from.mask(); ++i, source += stride, target += stride) {
        const std::uint64_t tag = source[0];
        if (tag != int_tag(leader, static_cast<std::uint16_t>(tag & 0xffffU)) ||
            (old && target[0] != tag + renamed)) {
            continue;
        }
        target[0] = tag + renamed;
        for (std::uint32_t word = 1; word < stride; ++word) {
            target[word] = Renaming::int_record(units, word, source[word]);
        }
    }
}

void CopyWriter::copy_flow_at_source(FlowSlot leader) const {
    const FlowSlot slot = names_.flow(leader);
    const FlowResult before = world_.result[slot];
    FlowResult& result = world_.result[slot];
    result.start = world_.result[leader].start;
    result.finish = world_.result[leader].finish;
    result.retransmitted = world_.result[leader].retransmitted;
    result.resent_late = world_.result[leader].resent_late;
    note_change(slot, before);
    world_.following[slot] = names_.flow(world_.following[leader]);
    copy_int_slots(leader, false);
    if (QueuePair* const pair = queue_pair_of(world_, leader); pair != nullptr) {
        const auto present = [&](FlowSlot of) {
            return of != kNone && places_.flow[of].leads() ? names_.flow(of) : kNone;
        };
        *queue_pair_of(world_, slot) = QueuePair{present(pair->current), present(pair->last)};
    }
}

void CopyWriter::complete_records(NodeId leader) const {
    for (const std::uint32_t index : fold_.source[places_.host[leader].index]) {
        if (image_.flow[index] != kNone) {
            copy_int_slots(fold_.flow[index], true);
        }
    }
}

void CopyWriter::copy_receivers(NodeId leader) const {
    for (const FlowSlot flow : fold_.flow) {
        if (flow != kNone && names_.flow(flow) != kNone && names_.receives(leader, flow)) {
            const FlowSlot other = names_.received_as(flow);
            world_.receiver[other] = world_.receiver[flow];
            world_.result[other].received = world_.result[flow].received;
        }
    }
}

void CopyWriter::copy_host(NodeId leader) const {
    const NodeId node = names_.host(leader);
    const Host& from = world_.host[leader];
    Host& to = world_.host[node];
    for (std::uint32_t i = 0; i < std::min(from.senders.count, to.senders.capacity); ++i) {
        SLUICE_PREFETCH(to.senders.data + i);
    }
    for (const std::uint32_t index : fold_.source[places_.host[leader].index]) {
        if (image_.flow[index] != kNone) {
            copy_flow_at_source(fold_.flow[index]);
        }
    }
    copy_receivers(leader);
    to.senders.count = 0;
    for (std::uint32_t i = 0; i < from.senders.count; ++i) {
        const bool active = from.senders[i].flow != kNone;
        to.senders.push(world_.memory, active ? from.senders[i] : Sender{});
        if (active) {
            names_.rename(to.senders[i]);
            world_.sender_at[to.senders[i].flow] = i;
            ++world_.active_senders;
        }
    }
    to.free_senders.count = 0;
    for (std::uint32_t i = 0; i < from.free_senders.count; ++i) {
        to.free_senders.push(world_.memory, from.free_senders[i]);
    }
    for (std::uint32_t i = 0; i < from.timers.count; ++i) {
        Timer timer = from.timers[i];
        FlowSlot slot = kNone;
        if (timer.kind == TimerKind::sender && !superseded(world_, from, timer)) {
            slot = names_.flow(from.senders[timer.slot].flow);
        } else if (timer.kind == TimerKind::flow_start && timer.slot != kNone &&
                   places_.flow[timer.slot].leads()) {
            slot = names_.flow(timer.slot);  // its turn has come
            timer.slot = slot;
        }
        if (slot != kNone) {
            timer.id = world_.id[slot];
            push_timer(world_.memory, to, timer);
        }
    }
    store_.set_home(node, node);
    refresh_wake(world_, node);
}

void CopyWriter::still_host(NodeId leader) const {
    const NodeId node = names_.host(leader);
    Host& host = world_.host[node];
    for (const std::uint32_t index : fold_.source[places_.host[leader].index]) {
        const FlowSlot slot = image_.flow[index];
        world_.active_senders -= world_.sender_at[slot] != kNone ? 1 : 0;
        world_.sender_at[slot] = kNone;
        world_.following[slot] = kNone;
        return_int_slots(world_, host, slot);
        if (QueuePair* const pair = queue_pair_of(world_, slot); pair != nullptr) {
            *pair = QueuePair{};
        }
    }
    host.senders.count = 0;
    host.free_senders.count = 0;
    PlainVector<Timer> timers = host.timers;
    const std::uint32_t count = timers.count;
    host.timers.count = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Timer timer = timers[i];  // the heap below is never longer than what was read
        const bool of_the_fold = timer.kind == TimerKind::sender ||
                                 (timer.kind == TimerKind::flow_start && timer.slot != kNone &&
                                  places_.flow[timer.slot].folded());
        if (!of_the_fold) {
            push_timer(world_.memory, host, timer);
        }
    }
    store_.set_home(node, leader);
    world_.wake[node] = kNever;
}

}  // namespace sluice::step
