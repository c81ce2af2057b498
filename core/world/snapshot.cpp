// SPDX-License-Identifier: Apache-2.0
/// How a snapshot is taken.
#include "core/world/snapshot.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/packet/sender.h"
#include "core/world/part_buffers.h"

namespace sluice::step {

/// Reads a part's columns, and gives what it meets places.
class Snapshot::Taker {
  public:
    Taker(WorldStore& store, const NetworkPart& part, Snapshot& taken)
        : store_(store), world_(store.world()), part_(part), taken_(taken) {}

    void take() {
        for (const FlowSlot flow : part_.flows) {
            place_of(flow);
        }
        // Messages behind one in service are a list; those behind them come up as it is walked.
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const FlowSlot next = follower_of(slots_[i]);
            if (next != kNone && find_way(next, static_cast<std::uint32_t>(i))) {
                place_of(next);
            }
        }
        for (const PortId port : part_.ports) {
            take_unit(port);
        }
        for (const NodeId host : part_.hosts) {
            take_host(host);
        }
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            take_flow(slots_[i]);
        }
        take_others();
    }

  private:
    std::uint32_t place_of(FlowSlot flow) {
        if (flow == kNone) {
            return kNone;
        }
        const auto [at, fresh] = place_.insert({flow, static_cast<std::uint32_t>(slots_.size())});
        if (fresh) {
            slots_.push_back(flow);
        }
        return at->second;
    }
    /// The message that waits behind `flow`; where none does, what is told may be long gone.
    FlowSlot follower_of(FlowSlot flow) const {
        const QueuePair* const pair = queue_pair_of(world_, flow);
        const bool waits = world_.result[flow].start == kNever;
        return pair != nullptr && (waits || pair->current == flow) ? world_.following[flow]
                                                                   : FlowSlot{kNone};
    }
    /// Whether it is known how a message that waits behind the flow at place `before` will go: among the part's ports;
    /// or as that one does, whose way may have been led among them (core/fold/fold.h) when it came into service.
    bool find_way(FlowSlot flow, std::uint32_t before) {
        const auto inside = [&](PortId port) { return port == kNone || unit_of(port) != kNone; };
        const PortId* const way = world_.route[flow].port;
        if (std::all_of(way, way + 2 * kPathHops, inside)) {
            return true;
        }
        goes_as_[flow] = before;
        return world_.spec[flow].sport == world_.spec[slots_[before]].sport;
    }
    /// The last message of a queue pair that is in the snapshot.
    std::uint32_t last_of(const QueuePair& pair) const {
        FlowSlot last = pair.current;
        while (last != pair.last && known(world_.following[last]) != kNone) {
            last = world_.following[last];
        }
        return known(last);
    }
    std::uint32_t known(FlowSlot flow) const {
        const auto at = place_.find(flow);
        return at == place_.end() ? kNone : at->second;
    }
    std::uint32_t unit_of(PortId port) const {
        const auto at = std::lower_bound(part_.ports.begin(), part_.ports.end(), port);
        return at == part_.ports.end() || *at != port
                   ? kNone
                   : static_cast<std::uint32_t>(at - part_.ports.begin());
    }

    void take_packet(const Packet& packet) {
        taken_.packets_.push_back(packet);
        if (packet.packet_kind() < PacketKind::pause) {
            taken_.packets_.back().flow = place_of(packet.flow);
        }
    }

    void take_unit(PortId port) {
        Egress& egress = world_.egress[port];
        Wire& link = world_.link[egress.peer];
        Unit unit;
        unit.egress = egress;
        unit.ingress = world_.ingress[egress.peer];
        unit.base = link.base;
        unit.decision = world_.link[port].decision;
        const NodeId node = store_.topology().node_of(port);
        const bool in_switch = world_.is_host[node] == 0;
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            Ring& ring = egress.queue[queue];
            unit.queued[queue] = ring.size();
            for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
                const Packet& packet = ring.at(at);
                const bool entered = in_switch && packet.packet_kind() < PacketKind::pause;
                const PortId by = world_.first_port[node] + packet.ingress;
                taken_.entered_.push_back(entered ? unit_of(world_.egress[by].peer) : kNone);
                take_packet(packet);
            }
        }
        unit.on_link = link.size();
        for (std::uint32_t at = link.head; at != link.tail; ++at) {
            take_packet(link.at(at));
        }
        if (!in_switch) {
            take_round(port, unit);
        }
        if (world_.cross != nullptr) {
            unit.cross = world_.cross[port];
        }
        taken_.units_.push_back(unit);
    }

    /// Of a NIC: who sends next. Names of senders become places as their host is taken.
    void take_round(PortId port, Unit& unit) {
        const HostPort& nic = world_.host_port[port];
        unit.round = nic.sender.count;
        unit.last = nic.last;
        unit.last_was_ack = nic.last_was_ack;
        const Host& host = world_.host[store_.topology().node_of(port)];
        for (std::uint32_t i = 0; i < nic.sender.count; ++i) {
            taken_.round_.push_back(place_of(host.senders[nic.sender[i]].flow));
            taken_.ready_.push_back(nic.ready[i]);
        }
    }

    void take_host(NodeId node) {
        const Host& host = world_.host[node];
        HostState state;
        std::map<std::uint32_t, std::uint32_t> renamed;
        for (std::uint32_t i = 0; i < host.senders.count; ++i) {
            if (host.senders[i].flow != kNone) {
                renamed.insert({i, state.senders++});
            }
        }
        for (const auto& [index, at_host] : renamed) {
            Sender sender = host.senders[index];
            sender_of_[sender.flow] = static_cast<std::uint32_t>(taken_.senders_.size());
            sender.flow = place_of(sender.flow);
            sender.port = unit_of(sender.port);
            sender.heir = sender.heir == kNone ? kNone : renamed.at(sender.heir);
            taken_.senders_.push_back(sender);
        }
        for (std::uint32_t i = 0; i < host.timers.count; ++i) {
            Timer timer = host.timers[i];
            if (superseded(world_, host, timer)) {
                continue;
            }
            switch (timer.kind) {
                case TimerKind::sender: timer.slot = renamed.at(timer.slot); break;
                case TimerKind::answer: timer.slot = place_of(timer.slot); break;
                case TimerKind::flow_start: timer.slot = known(timer.slot); break;
                case TimerKind::application:
                case TimerKind::last_byte:
                case TimerKind::last_ack:
                case TimerKind::pull: timer.slot = kNone; break;  // nothing of packets
            }
            if (timer.slot != kNone) {
                taken_.timers_.push_back(timer);
                ++state.timers;
            }
        }
        taken_.hosts_.push_back(state);
    }

    void take_flow(FlowSlot flow) {
        FlowState state;
        state.spec = world_.spec[flow];
        state.spec.id = world_.id[flow];
        state.result = world_.result[flow];
        state.receiver = world_.receiver[flow];
        state.following = known(follower_of(flow));
        const auto goes_as = goes_as_.find(flow);
        if (goes_as != goes_as_.end()) {
            const FlowState& before = taken_.flows_[goes_as->second];
            std::copy_n(before.route, 2 * kPathHops, state.route);
            std::copy_n(before.of_part, 2 * kPathHops, state.of_part);
        } else {
            const FlowRoute& route = world_.route[flow];
            for (int hop = 0; hop < 2 * kPathHops; ++hop) {
                const std::uint32_t unit = unit_of(route.port[hop]);
                state.of_part[hop] = unit != kNone;
                state.route[hop] = unit != kNone ? unit : route.port[hop];
            }
        }
        const QueuePair* const pair = queue_pair_of(world_, flow);
        if (pair != nullptr && state.result.finish == kNever) {
            state.current = place_of(pair->current);
            state.last = last_of(*pair);
        }
        // A link event may have led a flow elsewhere while packets of it are still among the part's ports. Then its sender is not in
        // the snapshot, and ACKs of these packets tell nobody anything.
        if (const auto sender = sender_of_.find(flow); sender != sender_of_.end()) {
            state.sender = sender->second;
        }
        if (world_.answers != nullptr) {
            Wire& way = world_.answers[flow];
            state.answer_takes = world_.answer_takes[flow];
            state.answer_base = way.base;
            state.answers = way.size();
            for (std::uint32_t at = way.head; at != way.tail; ++at) {
                taken_.answers_.push_back(way.at(at));
            }
        }
        take_records(flow, state);
        taken_.flows_.push_back(state);
    }

    /// Of a slot that belongs to a packet of the flow the tag says which, of others 0.
    void take_records(FlowSlot flow, FlowState& state) {
        const IntBlock& block = world_.route[flow].ints;
        if (block.empty()) {
            return;
        }
        state.int_slots = block.mask() + 1;
        for (std::uint32_t i = 0; i < state.int_slots; ++i) {
            const congestion::IntRecord* const slot =
                block.words() + std::size_t{i} * world_.int_stride;
            const auto transmission = static_cast<std::uint16_t>(slot[0] & 0xffffU);
            const bool own = slot[0] == int_tag(flow, transmission);
            taken_.records_.push_back(own ? int_tag(0, transmission) : 0);
            taken_.records_.insert(taken_.records_.end(), slot + 1, slot + world_.int_stride);
        }
    }

    /// What is in the part's switches' buffers beside its own packets.
    void take_others() {
        std::map<CellId, HeldByOthers> cells;
        for (std::uint32_t i = 0; i < part_.ports.size(); ++i) {
            const PortId counted = counted_at(world_, part_.ports[i]);
            if (world_.is_host[store_.topology().node_of(counted)] != 0) {
                continue;
            }
            const auto [at, fresh] = cells.insert({cell_of(world_, counted), HeldByOthers{}});
            const Buffer& buffer = world_.buffer[at->first];
            if (fresh) {
                at->second = {i, buffer.shared_used, buffer.held_classes};
            }
            at->second.bytes -= held_in_buffer(world_, part_.ports[i]);
            at->second.classes -= held_by_peer(world_, part_.ports[i]);
        }
        for (const auto& [cell, held] : cells) {
            taken_.others_.push_back(held);
        }
    }

    WorldStore& store_;
    World& world_;
    const NetworkPart& part_;
    Snapshot& taken_;
    std::vector<FlowSlot> slots_;  ///< by place
    std::unordered_map<FlowSlot, std::uint32_t> place_;
    std::unordered_map<FlowSlot, std::uint32_t> sender_of_;  ///< in senders_
    std::unordered_map<FlowSlot, std::uint32_t>
        goes_as_;  ///< messages that wait: place of the one whose way they go
};

Snapshot::Snapshot(WorldStore& store, const NetworkPart& part, Tick now) : at_(now) {
    Taker(store, part, *this).take();
}

std::size_t Snapshot::bytes() const {
    return sizeof(Snapshot) + units_.capacity() * sizeof(Unit) +
           flows_.capacity() * sizeof(FlowState) +
           (packets_.capacity() + answers_.capacity()) * sizeof(Packet) +
           (entered_.capacity() + round_.capacity()) * sizeof(std::uint32_t) +
           ready_.capacity() * sizeof(Tick) + senders_.capacity() * sizeof(Sender) +
           timers_.capacity() * sizeof(Timer) + records_.capacity() * sizeof(congestion::IntRecord);
}

}  // namespace sluice::step
