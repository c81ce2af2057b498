// SPDX-License-Identifier: Apache-2.0
#include "core/fold/renaming.h"

namespace sluice::step {

Packet Renaming::packet(const Packet& leader, PortId queued_at) const {
    Packet packet = leader;
    packet.flow = flow_at(leader.flow, place_of(leader, queued_at != kNone));
    // A host's ACK waits in its NIC without having entered anything.
    if (queued_at != kNone && world_.is_host[topology_.node_of(queued_at)] == 0) {
        packet.ingress = entered_by(leader, queued_at);
    }
    return packet;
}

std::uint64_t Renaming::more_units(PortId port, PortId leader) const {
    if (port == leader) {
        return 0;  // of a sheet next to the leader's
    }
    const std::int64_t more = world_.egress[port].tx_bytes -
                              fold_.base[places_.unit[leader].index].counters[&Egress::tx_bytes];
    return static_cast<std::uint64_t>(more /
                                      static_cast<std::int64_t>(world_.int_units.bytes_unit));
}

bool Renaming::whole_units_apart(PortId leader) const {
    const std::int64_t more = world_.egress[unit(leader)].tx_bytes -
                              fold_.base[places_.unit[leader].index].counters[&Egress::tx_bytes];
    return world_.int_block == 0 ||
           more % static_cast<std::int64_t>(world_.int_units.bytes_unit) == 0;
}

/// What a law remembers of ports' counters.
void Renaming::renumber(Sender& sender, FlowSlot leader, Counters to) const {
    const FlowSlot known = way_known_of(leader);
    for (std::uint32_t hop = 0;
         world_.int_block != 0 && hop + 1 < kPathHops && world_.route[known].port[hop + 1] != kNone;
         ++hop) {
        if (const PortId port = port_on_way(known, hop + 1); has(port)) {
            const std::uint64_t units = more_units(unit_on_way(known, hop + 1), port);
            congestion::renumber_hop(sender.cc, world_.config->congestion, static_cast<int>(hop),
                                     to == Counters::own ? units : 0 - units);
        }
    }
}

Sender Renaming::sender(const Sender& leader) const {
    Sender sender = leader;
    rename(sender);
    return sender;
}

void Renaming::rename(Sender& sender) const {
    const FlowSlot leader = sender.flow;
    sender.flow = flow(leader);
    sender.port = unit(sender.port);
    renumber(sender, leader);
}

Renaming::IntUnits Renaming::int_units(FlowSlot leader) const {
    IntUnits units = {};
    for (std::uint32_t word = 1; word < kPathHops && word < world_.int_stride; ++word) {
        const PortId port =
            world_.route[leader].port[word] != kNone ? port_on_way(leader, word) : PortId{kNone};
        if (port != kNone && has(port)) {
            units[word] = more_units(unit_on_way(leader, word), port);
        }
    }
    return units;
}

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
    const PortId first = world_.first_port[topology_.node_of(queued_at)];
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
    return static_cast<std::uint16_t>(entered - world_.first_port[topology_.node_of(entered)]);
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

std::vector<FlowSlot> Renaming::received_by(NodeId leader) const {
    std::vector<FlowSlot> flows;
    for (const FlowSlot flow : fold_.flow) {
        if (flow != kNone && this->flow(flow) != kNone && receives(leader, flow)) {
            flows.push_back(received_as(flow));
        }
    }
    return flows;
}

}  // namespace sluice::step
