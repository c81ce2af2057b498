// SPDX-License-Identifier: Apache-2.0
/// Links that fail and are repaired.
#include "core/world/world_store.h"

#include <algorithm>

#include "core/packet/nic.h"

namespace sluice::step {

namespace {

void drop_queue(World& world, const Topology& topology, PortId port, Tick now) {
    Egress& egress = world.egress[port];
    const NodeId node = topology.node_of(port);
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        for (Ring& ring = egress.queue[queue]; !ring.empty(); ring.pop()) {
            const Packet& packet = ring.front();
            lose(world, egress, &Egress::drops_link_down);
            if (queue == 0 || world.is_host[node] != 0) {
                continue;
            }
            const PortId in = world.first_port[node] + packet.ingress;
            Buffer& buffer = world.buffer[node];
            step::release(buffer, world.ingress[in], queue, packet.bytes, world.pfc);
            if (world.pfc && in != port && should_resume(world, buffer, world.ingress[in], queue)) {
                end_pause(buffer, world.ingress[in], queue);
                send_pfc(world, in, queue, false, now);
                wake_cell(world, node, now);
            }
        }
        egress.class_bytes[queue] = 0;
        egress.deficit[queue] = 0;
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
}

void drop_link(World& world, const Topology& topology, PortId port) {
    Wire& link = world.link[port];
    const auto lost = static_cast<std::int64_t>(link.size());
    world.egress[topology.peer_of(port)].drops_link_down += lost;
    world.drops += static_cast<std::uint64_t>(lost);
    link.head = link.tail;
    world.link[port].arrival = kNever;
}

/// Queue pairs leave by the ports of their new routes.
void reroute(World& world, const Topology& topology, const std::vector<FlowSlot>& flows, Tick now) {
    for (const FlowSlot flow : flows) {
        const std::uint32_t index = world.sender_at[flow];
        if (index == kNone) {
            continue;
        }
        Host& host = world.host[world.spec[flow].src];
        const PortId port = departure_port(world, world.spec[flow].src, flow);
        Sender& sender = host.senders[index];
        if (port != sender.port) {
            detach(world, host, index);
            attach(world, host, index, port);
            sender.cc.line_rate = world.egress[port].line_rate;
            update_ready(world, sender);
        }
    }
    for (const NodeId host : topology.hosts()) {
        for (PortId p = world.first_port[host]; p < world.first_port[host + 1]; ++p) {
            decide(world, world.host[host], p, now);
            if (world.link[p].decision != kNever) {
                wake_cell(world, host, world.link[p].decision);
            }
        }
    }
}

}  // namespace

void WorldStore::set_link(LinkId link, bool up, Tick now) {
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        if (topology_.link_of(p) != link) {
            continue;
        }
        world_.egress[p].up = up;
        if (up) {
            world_.egress[p].free_at = std::max(world_.egress[p].free_at, now);
            continue;
        }
        drop_queue(world_, topology_, p, now);
        drop_link(world_, topology_, p);
        world_.link[p].decision = kNever;
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            set_paused(world_.egress[p], queue, false, now);
            if ((world_.ingress[p].paused >> queue & 1U) != 0) {
                end_pause(world_.buffer[topology_.node_of(p)], world_.ingress[p], queue);
            }
        }
    }
    change_routes(link, up);
    set_routes();
    reroute(world_, topology_, network_flows_.living(), now);
}

}  // namespace sluice::step
