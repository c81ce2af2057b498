// SPDX-License-Identifier: Apache-2.0
/// How a snapshot is put, and a part cleared for it.
#include <algorithm>

#include "core/packet/sender.h"
#include "core/packet/state_fields.h"
#include "core/world/part_buffers.h"
#include "core/world/skip.h"
#include "core/world/snapshot.h"

namespace sluice::step {

namespace {

bool in_switch(const WorldStore& store, PortId port) {
    return store.world().is_host[store.topology().node_of(port)] == 0;
}

/// Nothing is left to do at a node but what its columns say, which its block is told.
void forget_wake(World& world, NodeId node) {
    refresh_wake(world, node);
    const std::uint32_t first = node / 64 * 64;
    const std::uint32_t last = std::min(first + 64, world.cell_count);
    world.block_wake[node / 64] = *std::min_element(world.wake + first, world.wake + last);
}

}  // namespace

/// Writes it into a part's columns. Lists are read from front to back.
class Snapshot::Writer {
  public:
    Writer(const Snapshot& from, WorldStore& store, const NetworkPart& part, Tick now)
        : from_(from), store_(store), world_(store.world()), part_(part), dt_(now - from.at_) {}

    void write() {
        for (std::size_t i = 0; i < from_.flows_.size(); ++i) {
            put_flow(from_.flows_[i], part_.flows[i]);
        }
        for (std::size_t i = 0; i < from_.hosts_.size(); ++i) {
            put_host(from_.hosts_[i], part_.hosts[i]);
        }
        for (std::size_t i = 0; i < from_.units_.size(); ++i) {
            put_unit(from_.units_[i], part_.ports[i]);
        }
        for (const NodeId host : part_.hosts) {
            refresh_wake(world_, host);
        }
        for (const PortId port : part_.ports) {
            wake(port);
            wake(world_.egress[port].peer);
        }
    }

    void hold_others() {
        for (const HeldByOthers& held : from_.others_) {
            Buffer& buffer =
                world_.buffer[cell_of(world_, counted_at(world_, part_.ports[held.unit]))];
            buffer.shared_used += held.bytes;
            buffer.held_classes += held.classes;
        }
    }

  private:
    FlowSlot slot(std::uint32_t place) const { return place == kNone ? kNone : part_.flows[place]; }

    Packet packet(const Packet& taken) const {
        Packet packet = taken;
        if (packet.packet_kind() < PacketKind::pause) {
            packet.flow = slot(taken.flow);
        }
        return packet;
    }

    void put_flow(const FlowState& state, FlowSlot flow) {
        world_.result[flow] = state.result;
        restore_fields(world_.receiver[flow], state.receiver, dt_);
        world_.following[flow] = slot(state.following);
        for (int hop = 0; hop < 2 * kPathHops; ++hop) {
            world_.route[flow].port[hop] =
                state.of_part[hop] ? part_.ports[state.route[hop]] : state.route[hop];
        }
        QueuePair* const pair = queue_pair_of(world_, flow);
        if (pair != nullptr && state.result.finish == kNever) {
            *pair = QueuePair{slot(state.current), slot(state.last)};
        }
        if (world_.answers != nullptr) {
            store_.set_answer_time(flow, state.answer_takes);
            Wire& way = world_.answers[flow];
            way.base = state.answer_base + dt_;
            for (std::uint32_t i = 0; i < state.answers; ++i) {
                Packet answer = from_.answers_[answer_++];
                answer.flow = flow;
                way.push(world_.memory, answer);
            }
        }
        if (state.int_slots > 0) {
            put_records(state, flow);
        }
    }

    void put_records(const FlowState& state, FlowSlot flow) {
        take_int_slots(world_, source_of(world_, flow), flow, state.int_slots);
        congestion::IntRecord* word = world_.route[flow].ints.words();
        for (std::uint32_t i = 0; i < state.int_slots; ++i, word += world_.int_stride) {
            const congestion::IntRecord tag = from_.records_[record_];
            word[0] = tag == 0 ? 0 : int_tag(flow, static_cast<std::uint16_t>(tag & 0xffffU));
            std::copy_n(&from_.records_[record_ + 1], world_.int_stride - 1, word + 1);
            record_ += world_.int_stride;
        }
    }

    void put_host(const HostState& state, NodeId node) {
        Host& host = world_.host[node];
        const std::uint32_t first = host.senders.count;
        for (std::uint32_t i = 0; i < state.senders; ++i) {
            Sender sender = from_.senders_[sender_++];
            sender.flow = slot(sender.flow);
            sender.port = part_.ports[sender.port];
            sender.heir = sender.heir == kNone ? kNone : first + sender.heir;
            world_.sender_at[sender.flow] = first + i;
            ++world_.active_senders;
            host.senders.push(world_.memory, sender);
            shift_sender(world_, host.senders[first + i], dt_);
        }
        for (std::uint32_t i = 0; i < state.timers; ++i) {
            Timer timer = from_.timers_[timer_++];
            shift_fields(timer, dt_);
            if (timer.kind == TimerKind::sender) {
                timer.slot += first;
                timer.id = world_.id[host.senders[timer.slot].flow];
            } else {
                timer.slot = slot(timer.slot);
                timer.id = world_.id[timer.slot];
            }
            push_timer(world_.memory, host, timer);
        }
    }

    void put_unit(const Unit& unit, PortId port) {
        Egress& egress = world_.egress[port];
        restore_fields(egress, unit.egress, dt_);
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            for (std::uint32_t i = 0; i < unit.queued[queue]; ++i) {
                Packet copy = packet(from_.packets_[packet_++]);
                const std::uint32_t by = from_.entered_[entered_++];
                if (by != kNone) {
                    const PortId in = world_.egress[part_.ports[by]].peer;
                    copy.ingress = static_cast<std::uint16_t>(
                        in - world_.first_port[store_.topology().node_of(port)]);
                }
                egress.queue[queue].push(world_.memory, copy);
            }
        }
        Wire& link = world_.link[egress.peer];
        link.base = unit.base + dt_;
        for (std::uint32_t i = 0; i < unit.on_link; ++i) {
            link.push(world_.memory, packet(from_.packets_[packet_++]));
        }
        link.arrival = next_arrival(link);
        world_.link[port].decision = shifted(unit.decision, dt_);
        restore_fields(world_.ingress[egress.peer], unit.ingress, dt_);
        put_round(unit, port);
        if (world_.cross != nullptr) {
            world_.cross[port] = unit.cross;
        }
        if (in_switch(store_, counted_at(world_, port))) {
            Buffer& buffer = world_.buffer[cell_of(world_, counted_at(world_, port))];
            buffer.shared_used += held_in_buffer(world_, port);
            buffer.held_classes += held_by_peer(world_, port);
        }
    }

    void put_round(const Unit& unit, PortId port) {
        HostPort& nic = world_.host_port[port];
        nic.last = unit.last;
        nic.last_was_ack = unit.last_was_ack;
        for (std::uint32_t i = 0; i < unit.round; ++i) {
            const FlowSlot flow = slot(from_.round_[round_]);
            sender_of(world_, flow).position = i;
            nic.sender.push(world_.memory, world_.sender_at[flow]);
            nic.ready.push(world_.memory, shifted(from_.ready_[round_++], dt_));
        }
    }

    void wake(PortId port) {
        const Wire& link = world_.link[port];
        wake_cell(world_, cell_of(world_, port), std::min(link.arrival, link.decision));
    }

    const Snapshot& from_;
    WorldStore& store_;
    World& world_;
    const NetworkPart& part_;
    Tick dt_;
    std::size_t packet_ = 0;
    std::size_t entered_ = 0;
    std::size_t round_ = 0;
    std::size_t sender_ = 0;
    std::size_t timer_ = 0;
    std::size_t answer_ = 0;
    std::size_t record_ = 0;
};

void Snapshot::put(WorldStore& store, const NetworkPart& part, Tick now, bool others) const {
    Writer writer(*this, store, part, now);
    writer.write();
    if (others) {
        writer.hold_others();
    }
}

void clear_part(WorldStore& store, const NetworkPart& part) {
    World& world = store.world();
    for (const PortId port : part.ports) {
        Egress& egress = world.egress[port];
        if (in_switch(store, counted_at(world, port))) {
            Buffer& buffer = world.buffer[cell_of(world, counted_at(world, port))];
            buffer.shared_used -= held_in_buffer(world, port);
            buffer.held_classes -= held_by_peer(world, port);
        }
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            egress.queue[queue].head = egress.queue[queue].tail;
            egress.class_bytes[queue] = 0;
        }
        egress.queued_bytes = 0;
        egress.nonempty = 0;
        egress.paused = 0;
        Wire& link = world.link[egress.peer];
        link.head = link.tail;
        link.arrival = kNever;
        world.link[port].decision = kNever;
        restore_fields(world.ingress[egress.peer], Ingress{}, 0);
        world.host_port[port].sender.count = 0;
        world.host_port[port].ready.count = 0;
    }
    for (const NodeId node : part.hosts) {
        Host& host = world.host[node];
        host.senders.count = 0;
        host.free_senders.count = 0;
        host.timers.count = 0;
        forget_wake(world, node);
    }
    for (const PortId port : part.ports) {
        forget_wake(world, store.topology().node_of(port));
        forget_wake(world, store.topology().node_of(world.egress[port].peer));
    }
    for (const FlowSlot flow : part.flows) {
        world.active_senders -= world.sender_at[flow] != kNone ? 1 : 0;
        world.sender_at[flow] = kNone;
        store.release(flow);
    }
}

}  // namespace sluice::step
