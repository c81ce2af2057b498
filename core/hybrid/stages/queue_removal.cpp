// SPDX-License-Identifier: Apache-2.0
/// Takes packets out of the network as what a skip has delivered.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/hybrid/stages/queue_editor.h"
#include "core/packet/buffer.h"
#include "core/packet/nic.h"
#include "core/world/skip.h"

namespace sluice::hybrid {

RestoredQueues QueueEditor::thin(const std::vector<double>& part, Tick now) {
    struct Thinned {
        double part;      // of each packet, that goes
        double owed = 0;  // parts of packets that have not gone yet
    };
    std::unordered_map<FlowSlot, Thinned> flows;
    for (std::size_t i = 0; i < group_.flows.size(); ++i) {
        flows[group_.flows[i]] = {1 - part[i]};
    }
    // Evenly, so that the others keep their distances.
    const auto goes = [&](const step::Packet& packet) {
        const auto found = flows.find(packet.flow);
        if (found == flows.end()) {
            return false;
        }
        Thinned& flow = found->second;
        flow.owed += flow.part;
        const bool gone = flow.owed >= 1;
        flow.owed -= gone ? 1 : 0;
        return gone;
    };
    for (const PortId port : group_.ports) {
        remove_queued(port, goes);
        remove_on_link(world_.egress[port].peer, goes);
    }
    const RestoredQueues restored = removed();
    close_gaps();
    wake_nodes(now);
    return restored;
}

RestoredQueues QueueEditor::removed() const {
    RestoredQueues restored;
    restored.given_back = std::count_if(removed_.begin(), removed_.end(),
                                        [](const Removed& one) { return one.given_back; });
    restored.delivered = static_cast<std::int64_t>(removed_.size()) - restored.given_back;
    return restored;
}

/// Notes that a packet leaves the queue of `port`, as what it counts. False: as nothing that can be.
bool QueueEditor::take_out(const step::Packet& packet, PortId port) {
    const auto left = left_.find(packet.flow);
    if (left == left_.end()) {
        return false;
    }
    const step::Footprint& way = partitions_.footprint_of(packet.flow);
    const PortId* const last = way.data.data() + way.data.size();
    const PortId* const first = std::find(way.data.data(), last, port);
    if (first == last) {
        return false;
    }
    const PortId* const acks = way.acks.data();
    const std::int64_t ack = world_.config->format.ack;
    const bool besides =
        fits(first, last, frame_bytes()) && fits(acks, acks + way.acks.size(), ack);
    if (besides) {
        use(first, last, frame_bytes());
        use(acks, acks + way.acks.size(), ack);
    } else if (left->second > 0) {
        --left->second;
    } else {
        return false;
    }
    removed_.push_back({packet.flow, packet.sequence, port, !besides});
    return true;
}

void QueueEditor::remove_from(PortId port, double wanted) {
    const step::Egress& egress = world_.egress[port];
    remove_queued(port, [&](const step::Packet& packet) {
        return 2 * (static_cast<double>(egress.queued_bytes) - wanted) >= packet.bytes;
    });
}

/// Data packets on the link to a switch's `port`, as those in the queue that they come to.
template <class Goes>
void QueueEditor::remove_on_link(PortId port, Goes&& goes) {
    step::Wire& link = world_.link[port];
    std::uint32_t kept = link.head;
    for (std::uint32_t at = link.head; at != link.tail; ++at) {
        const step::Packet packet = link.at(at);
        const bool is_data = packet.packet_kind() == step::PacketKind::data;
        const bool may_go = is_data && left_.count(packet.flow) != 0 && sent_once(packet.flow);
        const std::vector<PortId>* const way =
            may_go ? &partitions_.footprint_of(packet.flow).data : nullptr;
        const bool comes = may_go && packet.hop > 0 && packet.hop < way->size() &&
                           world_.egress[(*way)[packet.hop - 1U]].peer == port;
        if (!comes || !goes(packet) || !take_out(packet, (*way)[packet.hop])) {
            link.at(kept++) = packet;
        }
    }
    if (kept != link.tail) {
        link.tail = kept;
        link.arrival = step::next_arrival(link);
    }
}

/// Data packets in the queues of a switch's `port`, the oldest first.
template <class Goes>
void QueueEditor::remove_queued(PortId port, Goes&& goes) {
    step::Egress& egress = world_.egress[port];
    const PortId first = world_.first_port[store_.topology().node_of(port)];
    for (std::uint32_t queue = 1; queue < step::kClasses; ++queue) {
        step::Ring& ring = egress.queue[queue];
        std::uint32_t kept = ring.head;
        for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
            const step::Packet packet = ring.at(at);
            if (packet.packet_kind() != step::PacketKind::data || !sent_once(packet.flow) ||
                !goes(packet) || !take_out(packet, port)) {
                ring.at(kept++) = packet;
                continue;
            }
            egress.class_bytes[queue] -= packet.bytes;
            egress.queued_bytes -= packet.bytes;
            step::release(world_.buffer[step::cell_of(world_, port)],
                          world_.ingress[first + packet.ingress], queue, packet.bytes, world_.pfc);
        }
        ring.tail = kept;
        if (ring.empty()) {
            egress.nonempty = static_cast<std::uint8_t>(egress.nonempty & ~(1U << queue));
        }
    }
    if (egress.nonempty == 0) {
        world_.link[port].decision = kNever;
    }
}

/// Packets behind removed ones move up in their flows, which are that much shorter.
void QueueEditor::close_gaps() {
    if (removed_.empty()) {
        return;
    }
    const auto before = [](const Removed& a, const Removed& b) {
        return std::tie(a.flow, a.sequence) < std::tie(b.flow, b.sequence);
    };
    std::sort(removed_.begin(), removed_.end(), before);
    each_data_packet([&](step::Packet& packet, PortId, bool) {
        const auto first = std::lower_bound(removed_.begin(), removed_.end(),
                                            Removed{packet.flow, 0, kNone}, before);
        const auto here = std::lower_bound(first, removed_.end(),
                                           Removed{packet.flow, packet.sequence, kNone}, before);
        packet.sequence -= static_cast<std::uint32_t>(here - first);
    });
    for (auto first = removed_.begin(); first != removed_.end();) {
        const FlowSlot flow = first->flow;
        const auto last = std::find_if(first, removed_.end(),
                                       [&](const Removed& other) { return other.flow != flow; });
        step::remove_in_flight(world_, flow, static_cast<std::uint32_t>(last - first));
        account(flow, first, last);
        first = last;
    }
}

/// What was delivered besides has been sent by the ports from its queue on, and its ACKs by theirs. What was
/// delivered in the skip has not been sent again by those before it.
void QueueEditor::account(FlowSlot flow, std::vector<Removed>::const_iterator first,
                          std::vector<Removed>::const_iterator last) {
    const step::Footprint& way = partitions_.footprint_of(flow);
    std::int64_t given_back = 0;
    for (auto removed = first; removed != last; ++removed) {
        const auto here = std::find(way.data.begin(), way.data.end(), removed->port);
        if (removed->given_back) {
            std::for_each(way.data.begin(), here,
                          [&](PortId port) { store_.add_skipped(port, -1, -frame_bytes()); });
            ++given_back;
        } else {
            std::for_each(here, way.data.end(),
                          [&](PortId port) { store_.add_skipped(port, 1, frame_bytes()); });
        }
    }
    const std::int64_t acks = step::ack_pace(world_.config->nic).of(last - first - given_back);
    for (const PortId port : way.acks) {
        store_.add_skipped(port, acks, acks * world_.config->format.ack);
    }
    step::shorten_flow(world_, flow, -given_back);
    step::update_ready(world_, step::sender_of(world_, flow));
}

}  // namespace sluice::hybrid
