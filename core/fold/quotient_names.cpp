// SPDX-License-Identifier: Apache-2.0
#include "core/fold/quotient_names.h"

#include <algorithm>

#include "core/fold/likeness.h"
#include "core/packet/sender.h"

namespace sluice::step {

bool QuotientNames::canonical(Tick now) const {
    for (std::uint32_t i = 0; i < fold_.flow.size(); ++i) {
        const Turn& turn = fold_.turn[i];
        const bool stays = std::all_of(turn.unit_sheet.begin(), turn.unit_sheet.end(),
                                       [](const auto& sheets) { return sheets.front() == 0; });
        const bool fresh = world_.result[fold_.flow[i]].start >= now - world_.lookahead;
        if (!stays && (!fresh || remembers_ports(fold_.flow[i]))) {
            return false;
        }
    }
    return true;
}

/// Whether the flow's law knows what ports' counters have been.
bool QuotientNames::remembers_ports(FlowSlot flow) const {
    if (world_.int_block == 0 || world_.sender_at[flow] == kNone) {
        return false;
    }
    const congestion::State& state = sender_of(world_, flow).cc;
    congestion::State other = state;
    for (int hop = 0; hop < kPathHops; ++hop) {
        congestion::renumber_hop(other, world_.config->congestion, hop, 1);
    }
    return !congestion::same(state, other, world_.config->congestion);
}

bool QuotientNames::adopt(Tick from) const {
    for (const Image* const sheet : *fold_.self->part) {
        const Renaming renaming(store_, places_, fold_, *sheet);
        if (!std::all_of(fold_.unit.begin(), fold_.unit.end(),
                         [&](PortId unit) { return renaming.whole_units_apart(unit); })) {
            return false;
        }
    }
    if (!std::all_of(fold_.unit.begin(), fold_.unit.end(),
                     [&](PortId unit) { return is_nameable(unit); })) {
        return false;
    }
    for (const NodeId host : fold_.host) {
        renumber_host(host, Renaming::Counters::leaders);
    }
    for (const PortId unit : fold_.unit) {
        adopt_unit(unit);
    }
    if (!Likeness(store_, places_, fold_, *fold_.self, from).others_told_alike()) {
        give_back();
        return false;
    }
    return true;
}

void QuotientNames::give_back() const {
    for (const NodeId host : fold_.host) {
        renumber_host(host, Renaming::Counters::own);
    }
    restore_units();
}

void QuotientNames::restore_hosts() const {
    for (const NodeId host : fold_.host) {
        if (host != kNone) {
            self_.copy_receivers(host);
            renumber_host(host, Renaming::Counters::own);
        }
    }
}

void QuotientNames::restore_units() const {
    for (const PortId unit : fold_.unit) {
        if (unit != kNone) {
            all_packets_of(world_, unit, [&](Packet& own, bool queued) {
                own = names().packet(own, queued ? unit : PortId{kNone});
                return true;
            });
        }
    }
}

void QuotientNames::renumber_host(NodeId leader, Renaming::Counters to) const {
    Host& host = world_.host[leader];
    for (std::uint32_t i = 0; i < host.senders.count; ++i) {
        if (host.senders[i].flow != kNone && places_.flow[host.senders[i].flow].leads()) {
            names().renumber(host.senders[i], host.senders[i].flow, to);
        }
    }
    for (const std::uint32_t index : fold_.source[places_.host[leader].index]) {
        const FlowSlot slot = fold_.flow[index];
        const IntBlock& block = world_.route[slot].ints;
        Renaming::IntUnits units = names().int_units(slot);
        for (std::uint64_t& count : units) {
            count = to == Renaming::Counters::own ? count : 0 - count;
        }
        for (std::uint32_t i = 0; !block.empty() && i <= block.mask(); ++i) {
            congestion::IntRecord* const words = block.words() + std::size_t{i} * world_.int_stride;
            if (words[0] == int_tag(slot, static_cast<std::uint16_t>(words[0] & 0xffffU))) {
                for (std::uint32_t word = 1; word < world_.int_stride; ++word) {
                    words[word] = Renaming::int_record(units, word, words[word]);
                }
            }
        }
    }
}

/// The leader's flow by whose name a packet at a unit of the leader's goes in its sheet; kNone: there is none.
FlowSlot QuotientNames::named_in_sheet(const Packet& packet, PortId leader, bool queued) const {
    if (packet.packet_kind() >= PacketKind::pause) {
        return kNone;
    }
    const FoldPlace& at = places_.flow[packet.flow];
    const FlowSlot flow =
        at.folded() && at.index < fold_.flow.size() ? fold_.flow[at.index] : kNone;
    const Turn* const turn = flow == kNone ? nullptr : names().turn(flow);
    if (turn == nullptr) {
        return kNone;
    }
    Packet named = packet;
    named.flow = flow;
    const std::uint32_t place = names().place_of(named, queued);
    const bool known = place < turn->print.units && turn->print.port[place] == leader &&
                       names().flow_at(flow, place) == packet.flow;
    return known ? flow : kNone;
}

Packet QuotientNames::adopted(const Packet& packet, PortId leader, bool queued) const {
    Packet named = packet;
    named.flow = named_in_sheet(packet, leader, queued);
    const NodeId node = topology_.node_of(leader);
    if (named.flow != kNone && queued && world_.is_host[node] == 0) {
        const Turn& turn = *names().turn(named.flow);
        const PortId entered =
            world_.egress[turn.print.port[names().place_of(named, true) - 1]].peer;
        named.ingress = static_cast<std::uint16_t>(entered - world_.first_port[node]);
    }
    return named;
}

bool QuotientNames::is_nameable(PortId leader) const {
    return all_packets_of(world_, leader, [&](const Packet& own, bool queued) {
        const Packet named = adopted(own, leader, queued);
        if (named.flow == kNone) {
            return false;
        }
        const Packet again = names().packet(named, queued ? leader : PortId{kNone});
        return again.flow == own.flow && again.ingress == own.ingress;
    });
}

void QuotientNames::adopt_unit(PortId leader) const {
    all_packets_of(world_, leader, [&](Packet& own, bool queued) {
        own = adopted(own, leader, queued);
        return true;
    });
}

}  // namespace sluice::step
