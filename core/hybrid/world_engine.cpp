// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/world_engine.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/clocks/folding.h"
#include "core/hybrid/queue_editor.h"
#include "core/world/skip.h"

namespace sluice::hybrid {

WorldEngine::WorldEngine(step::WorldStore& store, const step::FlowPartitions& partitions,
                         std::vector<bool> foreign)
    : store_(store), partitions_(partitions), foreign_(std::move(foreign)) {
    if (partitions.shared_by() == step::SharedBy::data_ports) {
        ack_streams_ = std::make_unique<AckStreams>(store);
    }
}

/// The flow that is executed in its place.
FlowSlot WorldEngine::executed(FlowSlot flow) const {
    return folding_ == nullptr ? flow : folding_->leader_of(flow);
}

PortId WorldEngine::executed_port(PortId port) const {
    return folding_ == nullptr ? port : folding_->leader_of_port(port);
}

const step::Sender& WorldEngine::sender(FlowSlot flow) const {
    return step::sender_of(store_.world(), executed(flow));
}

void WorldEngine::sort(std::vector<FlowSlot>& flows) const {
    step::sort_by_id(store_.world(), flows);
}

bool WorldEngine::active(FlowSlot flow) const {
    return store_.world().sender_at[executed(flow)] != kNone;
}

const congestion::Parameters& WorldEngine::law() const { return store_.world().config->congestion; }

Tick WorldEngine::base_rtt(FlowSlot flow) const {
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

std::int64_t WorldEngine::line_rate(FlowSlot flow) const { return sender(flow).cc.line_rate; }

std::uint8_t WorldEngine::traffic_class(FlowSlot flow) const { return sender(flow).traffic_class; }

std::int64_t WorldEngine::payload() const { return store_.world().payload; }

std::int64_t WorldEngine::data_bytes() const {
    return std::int64_t{store_.world().payload} + store_.world().data_overhead;
}

double WorldEngine::ack_bytes() const {
    return store_.world().config->format.ack *
           step::ack_pace(store_.world().config->nic).per_packet();
}

double WorldEngine::packets_per_ack() const {
    return 1 / step::ack_pace(store_.world().config->nic).per_packet();
}

std::int64_t WorldEngine::counter_unit() const {
    return congestion::traits(law().law).uses_int
               ? static_cast<std::int64_t>(store_.world().int_units.bytes_unit)
               : 0;
}

/// `to` will have sent what has left by `from` and waits for it, or is on its way.
std::optional<std::int64_t> WorldEngine::counter_ahead(PortId from, PortId to, Tick now) const {
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

std::int64_t WorldEngine::link_rate(PortId port) const {
    return store_.world().egress[port].line_rate;
}

const step::Footprint& WorldEngine::tracks(FlowSlot flow) const {
    return partitions_.footprint_of(flow);
}

steady::FlowReading WorldEngine::reading(FlowSlot flow) const {
    const step::Sender& from = sender(flow);
    steady::FlowReading reading;
    reading.progress = from.last_progress;
    reading.acked = from.una_bytes;
    reading.in_flight = from.next_bytes - from.una_bytes;
    reading.rate = from.cc.rate;
    reading.echoes = congestion::echoes(from.cc, store_.world().config->congestion);
    return reading;
}

std::int64_t WorldEngine::queue_bytes(PortId port) const {
    return store_.world().egress[executed_port(port)].queued_bytes;
}

Tick WorldEngine::skipped(FlowSlot flow) const { return sender(flow).skipped; }

std::int64_t WorldEngine::unsent_packets(FlowSlot flow) const {
    return sender(flow).high == sender(flow).next
               ? step::unsent_packets(store_.world(), executed(flow))
               : -1;
}

bool WorldEngine::may_skip(const Group& group) const {
    const step::World& world = store_.world();
    if (std::any_of(group.flows.begin(), group.flows.end(),
                    [&](FlowSlot flow) { return step::is_sprayed(world, flow); })) {
        return false;
    }
    const auto calm = [&](PortId port) {
        const NodeId node = store_.topology().node_of(port);
        return world.egress[port].paused == 0 && world.ingress[port].paused == 0 &&
               world.ingress[port].loss == 0 && world.egress[port].up &&
               (foreign_.empty() || !foreign_[node]);
    };
    return std::all_of(group.ports.begin(), group.ports.end(), [&](PortId port) {
        return calm(port) &&
               (ack_streams_ == nullptr || (calm(world.egress[port].peer) && !under_pfc(port)));
    });
}

/// A PFC frame waits to leave by `port`, or is on its way from it, for data that go against those of the
/// group.
bool WorldEngine::under_pfc(PortId port) const {
    const step::Egress& egress = store_.world().egress[port];
    if (egress.pauses_sent == 0) {
        return false;
    }
    step::Wire& link = store_.world().link[egress.peer];
    bool found = (egress.nonempty & 1U) != 0;
    for (std::uint32_t at = link.head; !found && at != link.tail; ++at) {
        found = link.at(at).packet_kind() >= step::PacketKind::pause;
    }
    return found;
}

void WorldEngine::decide(PortId port, Tick now) {
    step::World& world = store_.world();
    const NodeId node = store_.topology().node_of(port);
    if (!store_.topology().is_host(node) && world.link[port].decision == kNever) {
        world.link[port].decision = step::next_decision(world.egress[port], now);
        step::refresh_wake(world, node);
    }
}

void WorldEngine::shift(const Group& group, Tick dt) {
    step::World& world = store_.world();
    for (const PortId port : group.ports) {
        if (!follows_port(port)) {
            step::shift_port(world, port, dt);
        }
    }
    for (const FlowSlot flow : group.flows) {
        if (!follows(flow)) {
            step::shift_flow(world, flow, dt);
        }
    }
    for (const NodeId host : group.hosts) {
        if (executed_as(host) == host) {
            step::shift_host(world, host, dt);
            step::refresh_wake(world, host);
        }
    }
    for (const NodeId node : group.switches) {
        step::refresh_wake(world, node);
    }
}

void WorldEngine::advance(FlowSlot flow, std::int64_t packets) {
    if (!follows(flow)) {
        step::shorten_flow(store_.world(), flow, packets);
    }
}

void WorldEngine::account(FlowSlot flow, std::int64_t packets) {
    if (follows(flow)) {
        return;
    }
    const step::Footprint& way = tracks(flow);
    const std::int64_t acks = step::ack_pace(store_.world().config->nic).of(packets);
    for (const PortId port : way.data) {
        store_.add_skipped(executed_port(port), packets, packets * data_bytes());
    }
    if (ack_streams_ != nullptr) {
        ack_streams_->count_skipped(flow, acks);
        return;
    }
    for (const PortId port : way.acks) {
        store_.add_skipped(executed_port(port), acks, acks * store_.world().config->format.ack);
    }
}

void WorldEngine::settle(const Group& group) {
    for (const PortId port : group.ports) {
        if (!follows_port(port)) {
            store_.settle_skipped(port);
        }
    }
}

void WorldEngine::advance_law(FlowSlot flow, Tick dt, std::int64_t packets, double marked,
                              Tick now) {
    step::World& world = store_.world();
    if (follows(flow)) {
        return;
    }
    if (step::advance_law(world, flow, dt, packets, marked, now)) {
        step::refresh_wake(world, world.spec[flow].src);
    }
}

void WorldEngine::rescale_law(FlowSlot flow, double factor, Tick now) {
    step::World& world = store_.world();
    if (follows(flow)) {
        return;
    }
    if (step::rescale_law(world, flow, factor, now)) {
        step::refresh_wake(world, world.spec[flow].src);
    }
}

PortPast WorldEngine::describe(PortId port) const {
    const step::Egress& egress = store_.world().egress[port];
    PortPast past;
    past.port = port;
    past.rate = egress.line_rate;
    past.mark_bytes = egress.ecn_kmin == step::kNeverMarks ? 0 : egress.ecn_kmin;
    past.to_host = store_.topology().is_host(store_.topology().neighbor(port));
    return past;
}

RestoredQueues WorldEngine::set_queues(const Group& group, const Skipped& skip,
                                       const std::vector<PortId>& ports,
                                       const std::vector<double>& wanted, Tick now) {
    return QueueEditor(store_, partitions_, group, skip).set(ports, wanted, now);
}

NodeId WorldEngine::executed_as(NodeId host) const {
    return folding_ == nullptr ? host : static_cast<NodeId>(store_.world().home[host]);
}

Executed WorldEngine::executed_of(const Group& group) const {
    Executed made;
    std::copy_if(group.ports.begin(), group.ports.end(), std::back_inserter(made.ports),
                 [&](PortId port) { return !follows_port(port); });
    std::copy_if(group.hosts.begin(), group.hosts.end(), std::back_inserter(made.hosts),
                 [&](NodeId host) { return executed_as(host) == host; });
    std::unordered_map<FlowSlot, std::uint32_t> place;
    for (const FlowSlot flow : group.flows) {
        if (!follows(flow)) {
            place.insert({flow, static_cast<std::uint32_t>(made.flows.size())});
            made.flows.push_back(flow);
        }
    }
    for (const FlowSlot flow : group.flows) {
        made.like.push_back(place.at(executed(flow)));
    }
    return made;
}

bool WorldEngine::followed(NodeId host) const {
    return folding_ != nullptr && store_.world().followed[host] != step::kUnfollowed;
}

Tick WorldEngine::next_call(NodeId host) const {
    const auto& timers = store_.world().host[host].timers;
    Tick at = followed(host) ? store_.world().followed[host] : kNever;
    for (std::uint32_t i = 0; i < timers.count; ++i) {
        if (timers[i].kind != step::TimerKind::sender) {
            at = std::min(at, timers[i].time);
        }
    }
    return at;
}

/// Up to the start of a flow for which `stop` says so.
template <class Stop>
bool WorldEngine::run_calls_until(NodeId host, Tick at, Stop&& stop) {
    step::World& world = store_.world();
    PlainVector<step::Timer>& timers = world.host[host].timers;
    for (;;) {
        // The network's own timers of a paused host lie behind; stale ones are popped by the way.
        const bool due = timers.count > 0 && timers[0].time <= at;
        const bool own = due && timers[0].kind != step::TimerKind::sender;
        if (followed(host) && (own || world.followed[host] <= at)) {
            folding_->meet_paused(host, at, own);
        }
        if (!due) {
            break;
        }
        if (timers[0].kind == step::TimerKind::flow_start) {
            step::Timer& start = timers[0];
            start.slot = step::slot_of(world, host, start);
            if (stop(start.slot)) {
                return true;
            }
        }
        if (own && followed(host)) {
            folding_->go_on_together(host, at);
        }
        step::host_timer(world, host, at);
    }
    step::refresh_wake(world, host);
    return false;
}

bool WorldEngine::run_calls(NodeId host, Tick at) {
    return run_calls_until(host, at,
                           [&](FlowSlot flow) { return !step::must_wait(store_.world(), flow); });
}

bool WorldEngine::run_calls_to_start(NodeId host, Tick at) {
    return run_calls_until(host, at, [](FlowSlot) { return true; });
}

}  // namespace sluice::hybrid
