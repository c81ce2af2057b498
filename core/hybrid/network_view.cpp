// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/network_view.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/fold/folds.h"
#include "core/hybrid/outside.h"
#include "core/world/skip.h"

namespace sluice::hybrid {

namespace {

/// A PFC frame waits to leave by `port`, or is on its way from it, for data that go against those of the
/// group.
bool under_pfc(step::World& world, PortId port) {
    const step::Egress& egress = world.egress[port];
    if (egress.pauses_sent == 0) {
        return false;
    }
    step::Wire& link = world.link[egress.peer];
    bool found = (egress.nonempty & 1U) != 0;
    for (std::uint32_t at = link.head; !found && at != link.tail; ++at) {
        found = link.at(at).packet_kind() >= step::PacketKind::pause;
    }
    return found;
}

}  // namespace

NetworkView::NetworkView(step::WorldStore& store, const step::FlowPartitions& partitions)
    : store_(store), partitions_(partitions) {
    if (partitions.shared_by() == step::SharedBy::data_ports) {
        ack_streams_ = std::make_unique<AckStreams>(store);
    }
}

/// The flow that is executed in its place.
FlowSlot NetworkView::executed(FlowSlot flow) const {
    return folds_ == nullptr ? flow : folds_->leader_of(flow);
}

PortId NetworkView::executed_port(PortId port) const {
    return folds_ == nullptr ? port : folds_->leader_of_port(port);
}

const step::Sender& NetworkView::sender(FlowSlot flow) const {
    return step::sender_of(store_.world(), executed(flow));
}

void NetworkView::sort(std::vector<FlowSlot>& flows) const {
    step::sort_by_id(store_.world(), flows);
}

bool NetworkView::active(FlowSlot flow) const {
    return store_.world().sender_at[executed(flow)] != kNone;
}

std::vector<std::int64_t> NetworkView::law_facts(FlowSlot flow) const {
    const congestion::State& law = law_state(flow);
    return {law.base_rtt, law.max_window, law.line_rate};
}

Tick NetworkView::base_rtt(FlowSlot flow) const {
    const step::World& world = store_.world();
    const step::Footprint& way = tracks(flow);
    Tick trip = 0;
    for (const PortId port : way.data) {
        trip += world.egress[port].delay + world.egress[port].serialization[data_bytes()];
    }
    for (const PortId port : way.acks) {
        trip +=
            world.egress[port].delay + world.egress[port].serialization[world.config->format.ack];
    }
    return way.data.empty() ? sender(flow).cc.base_rtt : trip;
}

std::int64_t NetworkView::data_bytes() const {
    return std::int64_t{store_.world().payload} + store_.world().data_overhead;
}

double NetworkView::ack_bytes() const {
    return store_.world().config->format.ack *
           step::ack_pace(store_.world().config->nic).per_packet();
}

double NetworkView::packets_per_ack() const {
    return 1 / step::ack_pace(store_.world().config->nic).per_packet();
}

std::int64_t NetworkView::counter_unit() const {
    return congestion::traits(law().law).uses_int
               ? static_cast<std::int64_t>(store_.world().int_units.bytes_unit)
               : 0;
}

/// `to` will have sent what has left by `from` and waits for it, or is on its way.
std::optional<std::int64_t> NetworkView::counter_ahead(PortId from, PortId to, Tick now) const {
    const step::World& world = store_.world();
    const step::CrossStream* const cross = world.cross;
    if (cross != nullptr && cross[executed_port(from)].rate != cross[executed_port(to)].rate) {
        return std::nullopt;
    }
    const step::Egress& earlier = world.egress[executed_port(from)];
    const step::Egress& later = world.egress[executed_port(to)];
    std::int64_t ahead = later.tx_bytes + later.queued_bytes - earlier.tx_bytes;
    step::Wire& link = world.link[earlier.peer];
    for (std::uint32_t at = link.head; at != link.tail; ++at) {
        const step::Packet& packet = link.at(at);
        ahead += packet.packet_kind() < step::PacketKind::pause ? packet.bytes : 0;
    }
    return ack_streams_ == nullptr
               ? ahead
               : ahead + ack_streams_->crossed_ahead(executed_port(from), executed_port(to), now);
}

steady::FlowReading NetworkView::reading(FlowSlot flow) const {
    const step::Sender& from = sender(flow);
    steady::FlowReading reading;
    reading.progress = from.last_progress;
    reading.acked = from.una_bytes;
    reading.in_flight = from.next_bytes - from.una_bytes;
    reading.rate = from.cc.rate;
    reading.echoes = congestion::echoes(from.cc, store_.world().config->congestion);
    return reading;
}

std::int64_t NetworkView::queue_bytes(PortId port) const {
    return store_.world().egress[executed_port(port)].queued_bytes;
}

std::int64_t NetworkView::unsent_packets(FlowSlot flow) const {
    return sender(flow).high == sender(flow).next
               ? step::unsent_packets(store_.world(), executed(flow))
               : -1;
}

bool NetworkView::may_skip(const Group& group) const {
    step::World& world = store_.world();
    if (step::repeats_selectively(world) ||
        std::any_of(group.flows.begin(), group.flows.end(),
                    [&](FlowSlot flow) { return step::is_sprayed(world, flow); })) {
        return false;
    }
    const auto calm = [&](PortId port) {
        return world.egress[port].paused == 0 && world.ingress[port].paused == 0 &&
               world.ingress[port].loss == 0 && world.egress[port].up;
    };
    const bool allowed = outside_ == nullptr || outside_->may_skip(group);
    return allowed && std::all_of(group.ports.begin(), group.ports.end(), [&](PortId port) {
               return calm(port) && (ack_streams_ == nullptr ||
                                     (calm(world.egress[port].peer) && !under_pfc(world, port)));
           });
}

PortPast NetworkView::describe(PortId port) const {
    const step::Egress& egress = store_.world().egress[port];
    PortPast past;
    past.port = port;
    past.rate = egress.line_rate;
    past.mark_bytes = egress.ecn_kmin == step::kNeverMarks ? 0 : egress.ecn_kmin;
    past.to_host = store_.topology().is_host(store_.topology().neighbor(port));
    return past;
}

NodeId NetworkView::executed_as(NodeId host) const {
    return folds_ == nullptr ? host : static_cast<NodeId>(store_.world().home[host]);
}

Executed NetworkView::executed_of(const Group& group) const {
    Executed made;
    std::copy_if(group.ports.begin(), group.ports.end(), std::back_inserter(made.ports),
                 [&](PortId port) { return executed_port(port) == port; });
    std::copy_if(group.hosts.begin(), group.hosts.end(), std::back_inserter(made.hosts),
                 [&](NodeId host) { return executed_as(host) == host; });
    std::unordered_map<FlowSlot, std::uint32_t> place;
    for (const FlowSlot flow : group.flows) {
        if (!is_copy(flow)) {
            place.insert({flow, static_cast<std::uint32_t>(made.flows.size())});
            made.flows.push_back(flow);
        }
    }
    for (const FlowSlot flow : group.flows) {
        made.like.push_back(place.at(executed(flow)));
    }
    return made;
}

Tick NetworkView::next_call(NodeId host) const {
    const step::World& world = store_.world();
    const auto& timers = world.host[host].timers;
    Tick at = step::has_followers(world, host) ? world.followed[host] : kNever;
    for (std::uint32_t i = 0; i < timers.count; ++i) {
        if (timers[i].kind != step::TimerKind::sender) {
            at = std::min(at, timers[i].time);
        }
    }
    return at;
}

}  // namespace sluice::hybrid
