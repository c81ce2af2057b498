// SPDX-License-Identifier: Apache-2.0
/// Links that fail and are repaired.
#include "core/world/world_store.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/packet/nic.h"

namespace sluice::step {

void WorldStore::drop_queue(PortId port, Tick now) {
    Egress& egress = egress_[port];
    const NodeId node = topology_.node_of(port);
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        for (Ring& ring = egress.queue[queue]; !ring.empty(); ring.pop()) {
            const Packet& packet = ring.front();
            ++egress.drops;
            ++world_.drops;
            if (queue == 0 || is_host_[node] != 0) {
                continue;
            }
            const PortId in = first_port_[node] + packet.ingress;
            Buffer& buffer = buffer_[node];
            step::release(buffer, ingress_[in], queue, packet.bytes, config_.pfc);
            if (config_.pfc && in != port && should_resume(world_, buffer, ingress_[in], queue)) {
                end_pause(buffer, ingress_[in], queue);
                send_pfc(world_, in, queue, false, now);
                wake_cell(world_, node, now);
            }
        }
        egress.class_bytes[queue] = 0;
        egress.deficit[queue] = 0;
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
}

void WorldStore::drop_link(PortId port) {
    Wire& link = link_[port];
    const auto lost = static_cast<std::int64_t>(link.size());
    egress_[topology_.peer_of(port)].drops += lost;
    world_.drops += static_cast<std::uint64_t>(lost);
    link.head = link.tail;
    link_[port].arrival = kNever;
}

void WorldStore::take_int_layout(const WorldStore& other) {
    if (living_count() != 0) {
        throw InternalError("INT's layout was to change under flows");
    }
    ints_.copy(other.ints_);
}

void WorldStore::set_link(LinkId link, bool up, Tick now) {
    ints_.widen(slot_count());  // a detour may be longer than any shortest path
    const Topology& topology = topology_;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        if (topology.link_of(p) != link) {
            continue;
        }
        egress_[p].up = up;
        if (up) {
            egress_[p].free_at = std::max(egress_[p].free_at, now);
            continue;
        }
        drop_queue(p, now);
        drop_link(p);
        link_[p].decision = kNever;
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            set_paused(egress_[p], queue, false, now);
            if ((ingress_[p].paused >> queue & 1U) != 0) {
                end_pause(buffer_[topology.node_of(p)], ingress_[p], queue);
            }
        }
    }
    routing_.set_link(link, up);
    set_routes();
    reroute(now);
}

void WorldStore::change_routes(LinkId link, bool up) {
    ints_.widen(slot_count());
    routing_.set_link(link, up);
}

void WorldStore::set_routes() {
    ++route_epoch_;
    world_.any_link_down = std::any_of(egress_.begin(), egress_.end(),
                                       [](const Egress& egress) { return !egress.up; });
    for (FlowSlot slot = 0; slot < id_.size(); ++slot) {
        if (id_[slot] != kNoFlow && result_[slot].finish == kNever) {
            set_route(slot);
        }
    }
}

void WorldStore::reroute(Tick now) {
    for (const FlowSlot flow : living()) {
        const std::uint32_t index = sender_at_[flow];
        if (index == kNone) {
            continue;
        }
        Host& host = host_[spec_[flow].src];
        const PortId port = departure_port(world_, spec_[flow].src, flow);
        Sender& sender = host.senders[index];
        if (port != sender.port) {
            detach(world_, host, index);
            attach(world_, host, index, port);
            sender.cc.line_rate = egress_[port].line_rate;
            update_ready(world_, sender);
        }
    }
    for (const NodeId host : topology_.hosts()) {
        for (PortId p = first_port_[host]; p < first_port_[host + 1]; ++p) {
            decide(world_, host_[host], p, now);
            if (link_[p].decision != kNever) {
                wake_cell(world_, host, link_[p].decision);
            }
        }
    }
}

}  // namespace sluice::step
