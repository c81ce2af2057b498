// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/occupancy_bounds.h"

#include <algorithm>
#include <limits>

#include "core/packet/buffer.h"

namespace sluice::step {

OccupancyBounds::OccupancyBounds(const WorldStore& store)
    : store_(store),
      world_(store.world()),
      unused_(world_.buffer, world_.buffer + store.topology().node_count()),
      lossless_(compute_lossless()),
      bytes_(store.topology().port_count(), 0),
      unbounded_(store.topology().port_count(), 0),
      loud_(store.topology().node_count(), 0) {
    share_ = std::numeric_limits<std::int64_t>::max();
    for (NodeId n = 0; n < world_.node_count; ++n) {
        if (world_.is_host[n] == 0 && world_.first_port[n] < world_.first_port[n + 1]) {
            share_ = std::min(share_, share_of(n));
        }
    }
}

/// PFC with the project's own headroom loses nothing (buffer.h), if it stops all that a host sends
/// into a paused class, ACKs included.
bool OccupancyBounds::compute_lossless() const {
    const NetworkConfig& config = store_.config();
    if (!config.pfc || config.arithmetic != Arithmetic::exact) {
        return false;
    }
    return std::all_of(store_.flows().begin(), store_.flows().end(),
                       [&](const FlowSpec& spec) { return stops_acks_of(spec); });
}

std::int64_t OccupancyBounds::packets_at_most(FlowSlot flow) const {
    const std::int64_t payload = world_.payload;
    const std::int64_t window =
        store_.config().nic.global_base_rtt ? world_.max_window : world_.flow_window[flow];
    const std::int64_t all = (world_.spec[flow].size + payload - 1) / payload;
    // It sends while less than a window is unacknowledged, whole trains; its last packet may be short. Without
    // a window everything may be on its way at once.
    return window == 0 ? all : std::min(all, (window - 1) / payload + 1 + world_.train);
}

/// Calls visit(ingress port of a switch, bytes of a packet that enters there).
template <class Visit>
void OccupancyBounds::visit_ingresses(const Footprint& footprint, Visit&& visit) const {
    const Topology& topology = store_.topology();
    const std::int64_t frame = std::int64_t{world_.payload} + world_.data_overhead;
    const std::int64_t ack = store_.config().format.ack;
    const auto into_switch = [&](PortId port) { return !topology.is_host(topology.node_of(port)); };
    for (const auto& [ports, bytes] :
         {std::make_pair(&footprint.data, frame), std::make_pair(&footprint.acks, ack)}) {
        for (const PortId port : *ports) {
            if (into_switch(topology.peer_of(port))) {
                visit(topology.peer_of(port), bytes);
            }
        }
    }
    if (!footprint.data.empty()) {
        return;
    }
    for (const ResourceId resource : footprint.resources) {
        if (!is_cable(topology, resource)) {
            continue;
        }
        const LinkId cable = cable_of(topology, resource);
        const Link& link = topology.links()[cable];
        for (const NodeId node : {link.a, link.b}) {
            for (PortId p = topology.first_port(node); p < topology.first_port(node + 1); ++p) {
                if (topology.link_of(p) == cable && into_switch(p)) {
                    visit(p, frame);
                }
            }
        }
    }
}

void OccupancyBounds::charge(FlowSlot flow, const Footprint& footprint, bool enter) {
    const std::int64_t packets = packets_at_most(flow);
    const bool bounded = state_[flow] == State::bounded;
    visit_ingresses(footprint, [&](PortId in, std::int64_t bytes) {
        if (bounded) {
            bytes_[in] += enter ? packets * bytes : -packets * bytes;
        } else {
            unbounded_[in] += enter ? 1U : ~0U;
        }
    });
    if (lossless_) {
        return;
    }
    visit_ingresses(footprint,
                    [&](PortId in, std::int64_t) { set_loud(store_.topology().node_of(in)); });
}

void OccupancyBounds::add(FlowSlot flow, const Footprint& footprint, bool steady_route) {
    // Under selective repeat a flow may send again before any time-out.
    bool bounded = steady_route && !footprint.data.empty() && !world_.any_link_down &&
                   world_.scoreboard == nullptr;
    for (const std::vector<PortId>* ports : {&footprint.data, &footprint.acks}) {
        for (const PortId port : *ports) {
            bounded = bounded && world_.ingress[store_.topology().peer_of(port)].loss == 0;
        }
    }
    if (flow >= state_.size()) {
        state_.resize(std::max<std::size_t>(store_.slot_count(), std::size_t{flow} + 1),
                      State::absent);
    }
    state_[flow] = bounded ? State::bounded : State::unbounded;
    charge(flow, footprint, true);
    if (lossless_ && !stops_acks_of(world_.spec[flow])) {
        lossless_ = false;  // opened while running: no list told of it
        for (NodeId n = 0; n < world_.node_count; ++n) {
            set_loud(n);
        }
    }
}

/// Whether a pause of its class stops all that belongs to the flow.
bool OccupancyBounds::stops_acks_of(const FlowSpec& spec) const {
    const QueueConfig& queues = store_.config().queues;
    return queues.ack_strict_in_switch || spec.priority == queues.ack_pause_class;
}

void OccupancyBounds::set_loud(NodeId node) {
    if (world_.is_host[node] != 0) {
        return;
    }
    const std::uint8_t loud = quiet(node) ? 0 : 1;
    loud_switches_ += std::uint32_t{loud} - loud_[node];
    loud_[node] = loud;
}

void OccupancyBounds::remove(FlowSlot flow, const Footprint& footprint) {
    charge(flow, footprint, false);
    state_[flow] = State::absent;
}

void OccupancyBounds::unbind(FlowSlot flow, const Footprint& footprint) {
    if (state_[flow] == State::bounded) {
        charge(flow, footprint, false);
        state_[flow] = State::unbounded;
        charge(flow, footprint, true);
    }
}

/// With all flows at their most, is every window of every cell quiet (quiet_window, switch.h)?
bool OccupancyBounds::quiet(NodeId node) const {
    const std::uint32_t* const first = unbounded_.data() + world_.first_port[node];
    const std::uint32_t* const last = unbounded_.data() + world_.first_port[node + 1];
    return std::all_of(first, last, [](std::uint32_t flows) { return flows == 0; }) &&
           quiet_with(node, [&](PortId p) { return bytes_[p]; });
}

std::int64_t OccupancyBounds::share_of(NodeId node) const {
    std::int64_t share = -1;
    std::int64_t more = unused_[node].shared_size;
    for (; more > 0; more /= 2) {
        if (quiet_with(node, [&](PortId) { return share + more; })) {
            share += more;
        }
    }
    return share;
}

/// Is every window of every cell quiet if so much comes in by each port at most?
template <class BytesAt>
bool OccupancyBounds::quiet_with(NodeId node, BytesAt&& bytes_at) const {
    const Buffer& buffer = unused_[node];
    const PortId first = world_.first_port[node];
    const PortId last = world_.first_port[node + 1];
    std::int64_t total = 0;
    for (PortId p = first; p < last; ++p) {
        total += bytes_at(p);
    }
    const std::int64_t left = buffer.shared_size - total;
    if (left < 0) {
        return false;
    }
    if (!world_.pfc) {
        return egress_is_free(world_, total, left);
    }
    for (PortId p = first; p < last; ++p) {
        if (bytes_at(p) != 0 &&
            !ingress_is_free(world_, world_.ingress[p], bytes_at(p) - buffer.reserve, left)) {
            return false;
        }
    }
    return true;
}

bool OccupancyBounds::divisible(NodeId node) const {
    if (drops_possible() || !quiet(node)) {
        return false;
    }
    return !pauses(node);
}

bool OccupancyBounds::pauses(NodeId node) const {
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        if (pauses_at(p)) {
            return true;
        }
    }
    return false;
}

bool OccupancyBounds::pauses_at(PortId port) const {
    return held_classes(world_.ingress[port]) != 0;
}

std::int64_t OccupancyBounds::bound(const Cell& cell) const {
    const PortId first = world_.first_port[cell.node];
    const std::uint32_t ports = world_.first_port[cell.node + 1] - first;
    std::int64_t bytes = 0;
    for (std::uint32_t k = 0; k < (cell.ports == nullptr ? ports : cell.port_count); ++k) {
        bytes += bytes_[first + (cell.ports == nullptr ? k : cell.ports[k])];
    }
    return bytes;
}

}  // namespace sluice::step
