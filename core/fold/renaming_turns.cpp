// SPDX-License-Identifier: Apache-2.0
/// Renaming where a part is several sheets (core/fold/fold.h): whose packets are where.
#include "core/fold/renaming.h"
#include "core/packet/sender.h"

namespace sluice::step {

const Turn* Renaming::turn(FlowSlot leader) const {
    if (image_.part == nullptr) {
        return nullptr;
    }
    const Turn& turn = fold_.turn[places_.flow[leader].index];
    return turn.known() ? &turn : nullptr;
}

/// The flow, or one that goes its way: of a message that has taken over a queue pair, and the law with it, in the window
/// just executed, the turn is not known yet, but that of the one before it is.
FlowSlot Renaming::way_known_of(FlowSlot leader) const {
    const FlowSpec& spec = world_.spec[leader];
    if (image_.part == nullptr || turn(leader) != nullptr || spec.queue() == kNone) {
        return leader;
    }
    for (const std::uint32_t index : fold_.source[places_.host[spec.src].index]) {
        const FlowSlot other = fold_.flow[index];
        if (turn(other) != nullptr && world_.spec[other].queue() == spec.queue() &&
            world_.spec[other].sport == spec.sport) {
            return other;
        }
    }
    return leader;
}

PortId Renaming::port_on_way(FlowSlot leader, std::uint32_t place) const {
    const Turn* const turn = this->turn(leader);
    return turn != nullptr ? turn->print.port[place] : world_.route[leader].port[place];
}

PortId Renaming::unit_on_way(FlowSlot leader, std::uint32_t place) const {
    const Turn* const turn = this->turn(leader);
    const std::uint32_t index = places_.unit[port_on_way(leader, place)].index;
    return turn != nullptr ? sheet(turn->unit_sheet[place][image_.sheet]).unit[index]
                           : image_.unit[index];
}

FlowSlot Renaming::flow_at(FlowSlot leader, std::uint32_t place) const {
    const Turn* const turn = this->turn(leader);
    return turn != nullptr
               ? sheet(turn->flow_sheet[place][image_.sheet]).flow[places_.flow[leader].index]
               : flow(leader);
}

/// By which unit of its flow's way a packet of a leader's waits, or has left last.
std::uint32_t Renaming::place_of(const Packet& leader, bool queued) const {
    const Turn* const turn = this->turn(leader.flow);
    const std::uint32_t hop = leader.hop - (queued ? 0U : 1U);
    const bool data = leader.packet_kind() == PacketKind::data;
    return data || turn == nullptr ? hop : turn->print.data + hop;
}

/// Where the image's packet entered the switch at which that of the leader's waits.
std::uint16_t Renaming::entered_by(const Packet& leader, PortId queued_at) const {
    const PortId first = world_.first_port[store_.topology().node_of(queued_at)];
    const PortId sender = world_.egress[first + leader.ingress].peer;
    PortId image_sender = kNone;
    if (const Turn* const turn = this->turn(leader.flow); turn != nullptr) {
        const std::uint32_t place = place_of(leader, true);
        const std::uint32_t owner = turn->flow_sheet[place][image_.sheet];
        image_sender = sheet(turn->unit_sheet[place - 1][owner]).unit[places_.unit[sender].index];
    } else {
        image_sender = unit(sender);
    }
    const PortId entered = world_.egress[image_sender].peer;
    return static_cast<std::uint16_t>(entered -
                                      world_.first_port[store_.topology().node_of(entered)]);
}

bool Renaming::receives(NodeId leader, FlowSlot flow) const {
    if (image_.part == nullptr) {
        return world_.spec[flow].dst == leader;
    }
    const Turn* const turn = this->turn(flow);
    return turn != nullptr && turn->print.dst == leader;
}

FlowSlot Renaming::received_as(FlowSlot leader) const {
    const Turn* const turn = this->turn(leader);
    return turn != nullptr ? flow_at(leader, turn->print.units) : flow(leader);
}

void Renaming::copy_receiver(NodeId leader, FlowSlot flow) const {
    if (receives(leader, flow)) {
        const FlowSlot other = received_as(flow);
        world_.receiver[other] = world_.receiver[flow];
        world_.result[other].received = world_.result[flow].received;
    }
}

std::vector<FlowSlot> Renaming::received_by(NodeId leader) const {
    std::vector<FlowSlot> flows;
    for (const FlowSlot flow : fold_.flow) {
        if (flow != kNone && this->flow(flow) != kNone && receives(leader, flow)) {
            flows.push_back(received_as(flow));
        }
    }
    return flows;
}

void Renaming::restore_host(NodeId leader) const {
    for (const FlowSlot flow : fold_.flow) {
        if (flow != kNone) {
            copy_receiver(leader, flow);
        }
    }
    renumber_host(leader, Counters::own);
}

void Renaming::renumber_host(NodeId leader, Counters to) const {
    Host& host = world_.host[leader];
    for (std::uint32_t i = 0; i < host.senders.count; ++i) {
        if (host.senders[i].flow != kNone && places_.flow[host.senders[i].flow].leads()) {
            renumber(host.senders[i], host.senders[i].flow, to);
        }
    }
    for (const std::uint32_t index : fold_.source[places_.host[leader].index]) {
        const FlowSlot slot = fold_.flow[index];
        const IntBlock& block = world_.route[slot].ints;
        IntUnits units = int_units(slot);
        for (std::uint64_t& count : units) {
            count = to == Counters::own ? count : 0 - count;
        }
        for (std::uint32_t i = 0; !block.empty() && i <= block.mask(); ++i) {
            congestion::IntRecord* const words = block.words() + std::size_t{i} * world_.int_stride;
            if (words[0] == int_tag(slot, static_cast<std::uint16_t>(words[0] & 0xffffU))) {
                for (std::uint32_t word = 1; word < world_.int_stride; ++word) {
                    words[word] = int_record(units, word, words[word]);
                }
            }
        }
    }
}

void Renaming::restore_unit(PortId leader) const {
    all_packets_of(world_, leader, [&](Packet& own, bool queued) {
        own = packet(own, queued ? leader : PortId{kNone});
        return true;
    });
}

/// The leader's flow by whose name a packet at a unit of the leader's goes in its sheet; kNone: there is none.
FlowSlot Renaming::named_in_sheet(const Packet& packet, PortId leader, bool queued) const {
    if (packet.packet_kind() >= PacketKind::pause) {
        return kNone;
    }
    const FoldPlace& at = places_.flow[packet.flow];
    const FlowSlot flow =
        at.folded() && at.index < fold_.flow.size() ? fold_.flow[at.index] : kNone;
    const Turn* const turn = flow == kNone ? nullptr : this->turn(flow);
    if (turn == nullptr) {
        return kNone;
    }
    Packet named = packet;
    named.flow = flow;
    const std::uint32_t place = place_of(named, queued);
    const bool known = place < turn->print.units && turn->print.port[place] == leader &&
                       flow_at(flow, place) == packet.flow;
    return known ? flow : kNone;
}

Packet Renaming::adopted(const Packet& packet, PortId leader, bool queued) const {
    Packet named = packet;
    named.flow = named_in_sheet(packet, leader, queued);
    const NodeId node = store_.topology().node_of(leader);
    if (named.flow != kNone && queued && world_.is_host[node] == 0) {
        const Turn& turn = *this->turn(named.flow);
        const PortId entered = world_.egress[turn.print.port[place_of(named, true) - 1]].peer;
        named.ingress = static_cast<std::uint16_t>(entered - world_.first_port[node]);
    }
    return named;
}

bool Renaming::is_nameable(PortId leader) const {
    return all_packets_of(world_, leader, [&](const Packet& own, bool queued) {
        const Packet named = adopted(own, leader, queued);
        if (named.flow == kNone) {
            return false;
        }
        const Packet again = packet(named, queued ? leader : PortId{kNone});
        return again.flow == own.flow && again.ingress == own.ingress;
    });
}

void Renaming::adopt_unit(PortId leader) const {
    all_packets_of(world_, leader, [&](Packet& own, bool queued) {
        own = adopted(own, leader, queued);
        return true;
    });
}

}  // namespace sluice::step
