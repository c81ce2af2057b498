// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/queue_editor.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/packet/buffer.h"
#include "core/packet/nic.h"
#include "core/steady/rate_units.h"
#include "core/world/skip.h"

namespace sluice::hybrid {

namespace {

std::uint32_t queue_of(const step::World& world, FlowSlot flow) {
    return world.spec[flow].priority & (step::kClasses - 1);
}

}  // namespace

QueueEditor::QueueEditor(step::WorldStore& store, const step::FlowPartitions& partitions,
                         const Group& group, const Skipped& skip)
    : store_(store), world_(store.world()), partitions_(partitions), group_(group), skip_(skip) {
    const auto use = [&](PortId port, double bytes) {
        const double capacity =
            static_cast<double>(world_.egress[port].line_rate) / kBitsPerByteAndTick;
        room_.emplace(port, capacity * static_cast<double>(skip.time)).first->second -= bytes;
    };
    for (std::size_t i = 0; i < group.flows.size(); ++i) {
        const step::Footprint& way = partitions_.footprint_of(group.flows[i]);
        const auto packets = static_cast<double>(skip.packets[i]);
        for (const PortId port : way.data) {
            use(port, packets * static_cast<double>(frame_bytes()));
        }
        for (const PortId port : way.acks) {
            use(port, packets * world_.config->format.ack *
                          step::ack_pace(world_.config->nic).per_packet());
        }
        left_[group.flows[i]] = skip.packets[i];
    }
}

/// The links could have carried so many bytes more.
bool QueueEditor::fits(const PortId* first, const PortId* last, std::int64_t bytes) const {
    return std::all_of(first, last,
                       [&](PortId port) { return room_.at(port) >= static_cast<double>(bytes); });
}

void QueueEditor::use(const PortId* first, const PortId* last, std::int64_t bytes) {
    std::for_each(first, last, [&](PortId port) { room_[port] -= static_cast<double>(bytes); });
}

/// Where something was sent twice, what a number stands for is not one packet.
bool QueueEditor::sent_once(FlowSlot flow) const {
    if (world_.sender_at[flow] == kNone) {
        return false;
    }
    const step::Sender& sender = step::sender_of(world_, flow);
    return sender.retransmitted == 0 && sender.high == sender.next && sender.heir == kNone;
}

RestoredQueues QueueEditor::set(const std::vector<PortId>& ports, const std::vector<double>& wanted,
                                Tick now) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
        remove_from(ports[i], wanted[i]);
    }
    RestoredQueues restored = removed();
    close_gaps();
    find_astray();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        plan_for(ports[i], wanted[i]);
    }
    for (const Arrivals& arrivals : arrivals_) {
        restored.placed += static_cast<std::int64_t>(arrivals.placed.size());
    }
    open_gaps();
    put_in(now);
    charge_senders(now);
    wake_nodes(now);
    return restored;
}

void QueueEditor::wake_nodes(Tick now) {
    for (const NodeId host : group_.hosts) {
        for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
            step::decide(world_, world_.host[host], p, now);
        }
        step::refresh_wake(world_, host);
    }
    for (const NodeId node : group_.switches) {
        step::refresh_wake(world_, node);
    }
}

// Too shallow.

/// Flows with packets that are not where their footprints say, after links have changed under them.
void QueueEditor::find_astray() {
    each_data_packet([&](const step::Packet& packet, PortId port, bool queued) {
        const std::vector<PortId>& way = partitions_.footprint_of(packet.flow).data;
        const std::size_t hop = packet.hop;
        const bool on_way = hop > 0 && hop < way.size() + 1 &&
                            (queued ? hop < way.size() && way[hop] == port
                                    : world_.egress[way[hop - 1]].peer == port);
        if (!on_way) {
            astray_.push_back(packet.flow);
        }
    });
    std::sort(astray_.begin(), astray_.end());
}

/// Flows of the group whose data come by `port` of a switch.
std::vector<QueueEditor::Placed> QueueEditor::candidates(PortId port) const {
    std::vector<Placed> found;
    for (std::size_t i = 0; i < group_.flows.size(); ++i) {
        const FlowSlot flow = group_.flows[i];
        const std::vector<PortId>& way = partitions_.footprint_of(flow).data;
        const auto here = std::find(way.begin(), way.end(), port);
        if (here == way.begin() || here == way.end() || !(skip_.rate[i] > 0) || !sent_once(flow) ||
            std::binary_search(astray_.begin(), astray_.end(), flow)) {
            continue;
        }
        Placed candidate;
        candidate.flow = flow;
        candidate.port = port;
        candidate.hop = static_cast<std::uint32_t>(here - way.begin());
        candidate.ingress = world_.egress[*(here - 1)].peer;
        candidate.rate = skip_.rate[i];
        candidate.before = step::sender_of(world_, flow).next;
        found.push_back(candidate);
    }
    return found;
}

/// The flow may have one packet more in flight, and the links up to the queue could have carried it. The
/// packet that fills the window is left to the sender: it asks for an ACK.
bool QueueEditor::may_send(const Placed& candidate) {
    const step::Sender& sender = step::sender_of(world_, candidate.flow);
    const std::int64_t window =
        (sender.window - (sender.next_bytes - sender.una_bytes + sender.behind)) / world_.payload;
    const PortId* const way = partitions_.footprint_of(candidate.flow).data.data();
    return planned_[candidate.flow] <
               std::min(window - 1, step::unsent_packets(world_, candidate.flow)) &&
           fits(way, way + candidate.hop, frame_bytes());
}

/// True if a packet more would be queued whatever else the shared buffer holds.
bool QueueEditor::holds(const Placed& candidate, std::int64_t planned) const {
    const step::Buffer& buffer = world_.buffer[step::cell_of(world_, candidate.port)];
    const std::int64_t frame = frame_bytes();
    const std::int64_t left = buffer.shared_size - buffer.shared_used - frame;
    if (left < 0 || buffer.held_classes != 0) {
        return false;
    }
    if (!world_.pfc) {
        return step::egress_is_free(
            world_, world_.egress[candidate.port].queued_bytes + planned + frame, left);
    }
    const step::Ingress& ingress = world_.ingress[candidate.ingress];
    const std::int64_t above = std::int64_t{ingress.total_bytes} + frame - buffer.reserve;
    return step::ingress_is_free(world_, ingress, above, left);
}

/// Divides what is missing at a port among its flows by their rates, packet by packet.
void QueueEditor::plan_for(PortId port, double wanted) {
    const auto frame = static_cast<double>(frame_bytes());
    const double missing = (wanted - world_.egress[port].queued_bytes) / frame + 0.5;
    if (missing < 1) {
        return;
    }
    std::vector<Placed> flows = candidates(port);
    std::vector<std::uint32_t> picked;
    std::vector<std::uint32_t> open(flows.size());  // those that may have a packet more
    std::iota(open.begin(), open.end(), 0U);
    while (static_cast<double>(picked.size() + 1) <= missing && !open.empty()) {
        const auto next =
            std::min_element(open.begin(), open.end(), [&](std::uint32_t a, std::uint32_t b) {
                return (flows[a].packets + 0.5) / flows[a].rate <
                       (flows[b].packets + 0.5) / flows[b].rate;
            });
        Placed& flow = flows[*next];
        const auto planned = static_cast<std::int64_t>(picked.size()) * frame_bytes();
        if (!may_send(flow) || !holds(flow, planned)) {
            open.erase(next);
            continue;
        }
        const PortId* const way = partitions_.footprint_of(flow.flow).data.data();
        use(way, way + flow.hop, frame_bytes());
        ++flow.packets;
        ++planned_[flow.flow];
        picked.push_back(static_cast<std::uint32_t>(placed_.size()) + *next);
        step::charge(world_.buffer[step::cell_of(world_, port)], world_.ingress[flow.ingress],
                     queue_of(world_, flow.flow), static_cast<std::uint32_t>(frame_bytes()),
                     world_.pfc);
    }
    if (picked.empty()) {
        return;
    }
    Arrivals arrivals;
    arrivals.placed = std::move(picked);
    for (const Placed& flow : flows) {
        arrivals.rate += flow.rate;
    }
    arrivals_.push_back(std::move(arrivals));
    placed_.insert(placed_.end(), flows.begin(), flows.end());
}

/// Packets that are not as far as those put in are numbered behind them.
void QueueEditor::open_gaps() {
    if (arrivals_.empty()) {
        return;
    }
    for (std::uint32_t i = 0; i < placed_.size(); ++i) {
        if (placed_[i].packets > 0) {
            by_flow_.emplace_back(placed_[i].flow, i);
        }
    }
    std::sort(by_flow_.begin(), by_flow_.end());
    const auto each_of = [&](FlowSlot flow, auto&& visit) {
        for (auto at = std::lower_bound(by_flow_.begin(), by_flow_.end(), std::make_pair(flow, 0U));
             at != by_flow_.end() && at->first == flow; ++at) {
            visit(placed_[at->second]);
        }
    };
    // A link to a switch comes before its queues.
    each_data_packet([&](const step::Packet& packet, PortId, bool queued) {
        each_of(packet.flow, [&](Placed& placed) {
            if (packet.hop + (queued ? 1U : 0U) <= placed.hop) {
                placed.before = std::min(placed.before, packet.sequence);
            }
        });
    });
    each_data_packet([&](step::Packet& packet, PortId, bool) {
        std::uint32_t more = 0;
        each_of(packet.flow, [&](const Placed& placed) {
            more += placed.before <= packet.sequence ? placed.packets : 0;
        });
        packet.sequence += more;
    });
    for (const auto& [flow, i] : by_flow_) {
        Placed& placed = placed_[i];
        placed.sequence = placed.before;
        each_of(flow, [&](const Placed& other) {
            const bool ahead =
                std::make_pair(other.before, placed.hop) < std::make_pair(placed.before, other.hop);
            placed.sequence += ahead ? other.packets : 0;
        });
    }
}

void QueueEditor::put_in(Tick now) {
    for (const Arrivals& arrivals : arrivals_) {
        const PortId port = placed_[arrivals.placed.front()].port;
        step::Egress& egress = world_.egress[port];
        std::size_t newer = arrivals.placed.size();
        for (const std::uint32_t index : arrivals.placed) {
            Placed& placed = placed_[index];
            const double waited = static_cast<double>(--newer) / arrivals.rate;
            step::enqueue(world_, egress, next_of(placed, now - static_cast<Tick>(waited)),
                          queue_of(world_, placed.flow));
        }
        if (world_.link[port].decision == kNever) {
            world_.link[port].decision = step::next_decision(egress, now);
        }
    }
}

/// The next packet to be put in of those, which came to its queue at `arrived`.
step::Packet QueueEditor::next_of(Placed& placed, Tick arrived) {
    step::Sender& sender = step::sender_of(world_, placed.flow);
    const std::vector<PortId>& way = partitions_.footprint_of(placed.flow).data;
    const auto bytes = static_cast<std::uint16_t>(frame_bytes());
    Tick left = arrived - sender.skipped;
    for (std::uint32_t hop = 0; hop < placed.hop; ++hop) {
        left -= world_.egress[way[hop]].delay + world_.egress[way[hop]].serialization[bytes];
    }
    step::Packet packet;
    packet.stamp = left;
    packet.flow = placed.flow;
    packet.sequence = placed.sequence++;
    packet.bytes = bytes;
    packet.transmission = static_cast<std::uint16_t>(sender.transmissions++ >> sender.int_shift);
    packet.ingress = static_cast<std::uint16_t>(
        placed.ingress - world_.first_port[store_.topology().node_of(placed.port)]);
    packet.kind = static_cast<std::uint16_t>(step::PacketKind::data);
    packet.traffic_class = sender.traffic_class & (step::kClasses - 1);
    packet.hop = placed.hop & 15U;
    packet.int_hops = step::hops_without_slot(world_) & 15U;
    return packet;
}

/// What was put in has been sent, by the sender and by every port up to its queue.
void QueueEditor::charge_senders(Tick now) {
    for (const Placed& placed : placed_) {
        if (placed.packets == 0) {
            continue;
        }
        step::place_in_flight(world_, placed.flow, placed.packets, now);
        const std::vector<PortId>& way = partitions_.footprint_of(placed.flow).data;
        for (std::uint32_t hop = 0; hop < placed.hop; ++hop) {
            store_.add_skipped(way[hop], placed.packets, placed.packets * frame_bytes());
        }
    }
}

}  // namespace sluice::hybrid
