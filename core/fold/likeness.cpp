// SPDX-License-Identifier: Apache-2.0
#include "core/fold/likeness.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/packet/arrivals.h"
#include "core/packet/buffer.h"
#include "core/packet/sender.h"
#include "core/packet/state_fields.h"

namespace sluice::step {

namespace {

constexpr std::size_t kCacheLine = 64;

}  // namespace

bool specs_alike(const World& world, FlowSlot a, FlowSlot b) {
    const FlowSpec& left = world.spec[a];
    const FlowSpec& right = world.spec[b];
    const bool same_pair =
        world.flow_window == nullptr || (world.flow_window[a] == world.flow_window[b] &&
                                         world.flow_base_rtt[a] == world.flow_base_rtt[b]);
    return left.size == right.size && left.priority == right.priority &&
           (left.queue() == kNone) == (right.queue() == kNone) && same_pair;
}

/// Asks the cache for what is read first of the image's flows: it has lain there for long.
void Likeness::prefetch_flows() const {
    for (const FlowSlot flow : fold_.flow) {
        if (const FlowSlot image = renaming_.flow(flow); image != kNone) {
            SLUICE_PREFETCH(&world_.spec[image]);
            SLUICE_PREFETCH(&world_.result[image]);
            SLUICE_PREFETCH(&world_.receiver[image]);
            SLUICE_PREFETCH(&world_.route[image]);
            SLUICE_PREFETCH(&world_.sender_at[image]);
        }
    }
    for (const FlowSlot flow : fold_.flow) {
        const FlowSlot image = renaming_.flow(flow);
        if (image != kNone && world_.sender_at[image] != kNone) {
            const Sender& sender = source_of(world_, image).senders[world_.sender_at[image]];
            const auto* const bytes = reinterpret_cast<const char*>(&sender);
            for (std::size_t line = 0; line < sizeof(Sender); line += kCacheLine) {
                SLUICE_PREFETCH(bytes + line);
            }
        }
    }
}

/// The same of what its packets were told.
void Likeness::prefetch_told() const {
    for (const PortId unit : fold_.unit) {
        if (unit != kNone) {
            all_packets_of(world_, renaming_.unit(unit), [&](const Packet& packet, bool) {
                prefetch_int(world_, packet);
                return true;
            });
        }
    }
}

bool Likeness::holds() const {
    prefetch_flows();
    for (const FlowSlot flow : fold_.flow) {
        if (flow != kNone && !flows_alike(flow)) {
            return false;
        }
    }
    prefetch_told();
    for (const NodeId host : fold_.host) {
        if (host != kNone && !hosts_alike(host)) {
            return false;
        }
    }
    for (const PortId unit : fold_.unit) {
        if (unit != kNone && !units_alike(unit)) {
            return false;
        }
    }
    return image_.part != nullptr || same_order_of_ports();
}

bool Likeness::others_told_alike() const {
    return std::all_of(fold_.unit.begin(), fold_.unit.end(), [&](PortId unit) {
        return all_packets_of(world_, unit, [&](const Packet& own, bool queued) {
            const Packet other = renaming_.packet(own, queued ? unit : PortId{kNone});
            return other.flow == own.flow || told_alike(own, other);
        });
    });
}

/// Packets that arrive at one instant are taken in the order of their ports. (Of several sheets, others see to
/// that.)
bool Likeness::same_order_of_ports() const {
    std::vector<std::tuple<NodeId, PortId, PortId>> entering;
    for (const PortId unit : fold_.unit) {
        if (unit != kNone) {
            const PortId receiver = world_.egress[unit].peer;
            entering.emplace_back(topology_.node_of(receiver), receiver,
                                  world_.egress[renaming_.unit(unit)].peer);
        }
    }
    std::sort(entering.begin(), entering.end());
    for (std::size_t i = 1; i < entering.size(); ++i) {
        const auto& [node, receiver, image] = entering[i];
        const auto& [node_before, receiver_before, image_before] = entering[i - 1];
        if (node == node_before && (image <= image_before ||
                                    topology_.node_of(image) != topology_.node_of(image_before))) {
            return false;
        }
    }
    return true;
}

template <class State>
bool Likeness::same_since(Tick from, const State& leader, const State& image, Difference of) const {
    const bool alike = all_fields(leader, image, [&](auto field, const auto& a, const auto& b) {
        of.column = field.name;
        if constexpr (field.role == Role::instant) {
            return std::max(a, from) == std::max(b, from);
        } else if constexpr (field.role == Role::constant || field.role == Role::content) {
            return same_value(a, b);
        }
        return true;
    });
    difference_ = alike ? difference_ : of;
    return alike;
}

bool Likeness::units_alike(PortId leader) const {
    const PortId image = renaming_.unit(leader);
    const Egress& a = world_.egress[leader];
    const Egress& b = world_.egress[image];
    const bool same_ends =
        a.up && b.up && a.paused == 0 && b.paused == 0 &&
        world_.is_host[topology_.node_of(leader)] == world_.is_host[topology_.node_of(image)] &&
        world_.is_host[topology_.node_of(a.peer)] == world_.is_host[topology_.node_of(b.peer)];
    return same_ends && same_since(from_, a, b, {"Egress", leader, image}) &&
           world_.link[leader].decision == world_.link[image].decision &&
           renaming_.whole_units_apart(leader) && queues_alike(leader) && links_alike(leader);
}

bool Likeness::queues_alike(PortId leader) const {
    Egress& a = world_.egress[leader];
    Egress& b = world_.egress[renaming_.unit(leader)];
    const bool in_switch = world_.is_host[topology_.node_of(leader)] == 0;
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        if (a.queue[queue].size() != b.queue[queue].size()) {
            return false;
        }
        for (std::uint32_t i = 0; i < a.queue[queue].size(); ++i) {
            const Packet& other = b.queue[queue].at(b.queue[queue].head + i);
            const Packet& own = a.queue[queue].at(a.queue[queue].head + i);
            const Packet renamed = renaming_.packet(own, leader);
            if (!same(renamed, other, {"Packet", leader, renaming_.unit(leader)}) ||
                renamed.flow != other.flow || (in_switch && renamed.ingress != other.ingress) ||
                !told_alike(own, other)) {
                return false;
            }
        }
    }
    return true;
}

bool Likeness::links_alike(PortId leader) const {
    const PortId receiver = world_.egress[leader].peer;
    const PortId image = world_.egress[renaming_.unit(leader)].peer;
    Wire& a = world_.link[receiver];
    Wire& b = world_.link[image];
    const Ingress& in = world_.ingress[receiver];
    const Ingress& other = world_.ingress[image];
    // What INT tells of time goes by the link's.
    if (a.size() != b.size() || (world_.int_block != 0 && a.base != b.base) ||
        held_classes(in) != 0 || !same(in, other, {"Ingress", receiver, image})) {
        return false;
    }
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        Packet renamed = renaming_.packet(a.at(a.head + i));
        renamed.time += a.base - b.base;
        const Packet& other_packet = b.at(b.head + i);
        if (!same(renamed, other_packet, {"Packet", receiver, image}) ||
            renamed.flow != other_packet.flow || !told_alike(a.at(a.head + i), b.at(b.head + i))) {
            return false;
        }
    }
    return true;
}

bool Likeness::rounds_alike(PortId leader) const {
    const HostPort& a = world_.host_port[leader];
    const HostPort& b = world_.host_port[renaming_.unit(leader)];
    if (a.sender.count != b.sender.count || a.last_was_ack != b.last_was_ack ||
        (a.sender.count > 0 && a.last != b.last)) {
        return false;
    }
    const Host& host = world_.host[topology_.node_of(leader)];
    const Host& other = world_.host[topology_.node_of(renaming_.unit(leader))];
    for (std::uint32_t i = 0; i < a.sender.count; ++i) {
        if (a.ready[i] != b.ready[i] ||
            renaming_.flow(host.senders[a.sender[i]].flow) != other.senders[b.sender[i]].flow) {
            return false;
        }
    }
    return true;
}

/// Whose turn it is in a connection is told by timers, too.
bool Likeness::hosts_alike(NodeId leader) const {
    const NodeId image = renaming_.host(leader);
    const auto turns = [&](NodeId node) {
        const PlainVector<Timer>& timers = world_.host[node].timers;
        std::vector<std::pair<Tick, FlowSlot>> found;
        for (std::uint32_t i = 0; i < timers.count; ++i) {
            const Timer& timer = timers[i];
            if (timer.kind == TimerKind::flow_start && timer.slot != kNone) {
                found.emplace_back(timer.time, timer.slot);
            }
        }
        return found;
    };
    std::vector<std::pair<Tick, FlowSlot>> expected;
    for (const auto& [time, flow] : turns(leader)) {
        if (places_.flow[flow].leads()) {
            expected.emplace_back(time, renaming_.flow(flow));
        }
    }
    std::vector<std::pair<Tick, FlowSlot>> found;
    for (const auto& [time, flow] : turns(image)) {
        if (std::find(image_.flow.begin(), image_.flow.end(), flow) != image_.flow.end()) {
            found.emplace_back(time, flow);
        }
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    if (expected != found) {
        return false;
    }
    for (PortId p = world_.first_port[leader]; p < world_.first_port[leader + 1]; ++p) {
        if (!rounds_alike(p)) {
            return false;
        }
    }
    return true;
}

bool Likeness::senders_alike(FlowSlot leader) const {
    const FlowSlot image = renaming_.flow(leader);
    const std::uint32_t at = world_.sender_at[leader];
    const std::uint32_t other = world_.sender_at[image];
    if ((at == kNone) != (other == kNone)) {
        return false;
    }
    if (at == kNone) {
        return true;
    }
    const Sender& a = source_of(world_, leader).senders[at];
    const Sender& b = source_of(world_, image).senders[other];
    const auto heir_of = [&](FlowSlot flow, const Sender& sender) {
        return sender.heir == kNone ? kNone : source_of(world_, flow).senders[sender.heir].flow;
    };
    if (renaming_.flow(heir_of(leader, a)) != heir_of(image, b)) {
        return false;
    }
    const Sender renamed = renaming_.sender(a);
    return same(renamed, b, {"Sender", leader, image}) && renamed.flow == b.flow &&
           renamed.port == b.port && congestion::same(renamed.cc, b.cc, world_.config->congestion);
}

bool Likeness::queue_pairs_alike(FlowSlot leader) const {
    const FlowSlot image = renaming_.flow(leader);
    const QueuePair* const a = queue_pair_of(world_, leader);
    const QueuePair* const b = queue_pair_of(world_, image);
    if (a == nullptr) {
        return b == nullptr;
    }
    const auto known = [&](FlowSlot flow) { return flow == kNone || places_.flow[flow].leads(); };
    return b != nullptr && known(a->current) && known(a->last) &&
           renaming_.flow(a->current) == b->current && renaming_.flow(a->last) == b->last;
}

/// What packets have been told so far is compared with them: what else is in a flow's slots is left over, and nobody reads it.
bool Likeness::int_slots_alike(FlowSlot leader) const {
    const IntBlock& a = world_.route[leader].ints;
    const IntBlock& b = world_.route[renaming_.flow(leader)].ints;
    return a.empty() == b.empty() && (a.empty() || a.mask() == b.mask());
}

/// Asked for once of a flow, whatever it has on its way.
const Renaming::IntUnits& Likeness::units_of(FlowSlot leader) const {
    units_.resize(fold_.flow.size());
    std::optional<Renaming::IntUnits>& units = units_[places_.flow[leader].index];
    if (!units.has_value()) {
        units = renaming_.int_units(leader);
    }
    return *units;
}

/// What INT has told a packet, or its acknowledgement.
bool Likeness::told_alike(const Packet& leader, const Packet& image) const {
    const PacketKind kind = leader.packet_kind();
    const bool is_pause = kind == PacketKind::pause || kind == PacketKind::resume;
    const FlowRoute& route = world_.route[leader.flow];
    if (is_pause || route.ints.empty()) {
        return true;
    }
    const congestion::IntRecord* const source = int_slot(world_, route, leader.transmission);
    const congestion::IntRecord* const other =
        int_slot(world_, world_.route[image.flow], image.transmission);
    const bool told = slot_tag(source) == int_tag(leader.flow, leader.transmission);
    if (told != (slot_tag(other) == int_tag(image.flow, image.transmission))) {
        return false;
    }
    if (!told) {
        return true;
    }
    const Renaming::IntUnits& units = units_of(leader.flow);
    for (std::uint32_t word = 1; word <= leader.int_hops && word < world_.int_stride; ++word) {
        if (Renaming::int_record(units, word, source[word]) != other[word]) {
            return false;
        }
    }
    return true;
}

bool Likeness::flows_alike(FlowSlot leader) const {
    const FlowSlot image = renaming_.flow(leader);
    const FlowResult& a = world_.result[leader];
    const FlowResult& b = world_.result[image];
    const Receiver& at = world_.receiver[leader];
    const Receiver& other = world_.receiver[image];
    return specs_alike(world_, leader, image) && a.start == b.start && a.received == b.received &&
           a.finish == b.finish && a.retransmitted == 0 && b.retransmitted == 0 &&
           same(at, other, {"Receiver", leader, image}) &&
           renaming_.flow(world_.following[leader]) == world_.following[image] &&
           senders_alike(leader) && queue_pairs_alike(leader) && int_slots_alike(leader);
}

}  // namespace sluice::step
