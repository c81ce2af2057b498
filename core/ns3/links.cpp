// SPDX-License-Identifier: Apache-2.0
/// Links that fail and are repaired under Arithmetic::ns3, as that simulator takes them down: what is
/// queued for a cable is lost, and stays counted in the switch's buffer; what is on it is lost where
/// it arrives; routes are computed anew, and every host deals its queue pairs out again.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/ns3/driver.h"
#include "core/ns3/nic.h"
#include "core/ns3/switch.h"

namespace sluice::ns3 {

namespace {

void lose_queues(step::World& world, step::Egress& egress) {
    for (std::uint32_t queue = 0; queue < step::kClasses; ++queue) {
        const std::uint32_t lost = egress.queue[queue].size();
        egress.drops_link_down += lost;
        world.drops += lost;
        egress.queue[queue].head = egress.queue[queue].tail;
        egress.class_bytes[queue] = 0;
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
}

}  // namespace

/// All queue pairs of the host, the latest first (ns-3 walks a hash map of them, whose newest
/// entries mostly come first).
void Driver::redistribute(NodeId host, Tick now) {
    step::World& world = store_.world();
    step::Host& own = world.host[host];
    std::vector<std::uint32_t> active;
    for (PortId p = world.first_port[host]; p < world.first_port[host + 1]; ++p) {
        step::HostPort& nic = world.host_port[p];
        for (std::uint32_t i = 0; i < nic.sender.count; ++i) {
            const step::Sender& sender = own.senders[nic.sender[i]];
            if (sender.una < sender.packets) {
                active.push_back(nic.sender[i]);
            } else {
                step::free_sender(world, own, nic.sender[i]);
            }
        }
        nic.sender.count = 0;
        nic.ready.count = 0;
    }
    std::sort(active.begin(), active.end(), [&](std::uint32_t a, std::uint32_t b) {
        const FlowSlot first = own.senders[a].flow;
        const FlowSlot second = own.senders[b].flow;
        return std::make_pair(world.result[second].start, world.id[second]) <
               std::make_pair(world.result[first].start, world.id[first]);
    });
    for (const std::uint32_t index : active) {
        const PortId port = step::departure_port(world, host, own.senders[index].flow);
        step::attach(world, own, index, port);
        renew_ready(world, own.senders[index]);
        nic_transmit(state_, port, now);
    }
}

void Driver::set_link(LinkId link, bool up, Tick now) {
    step::World& world = store_.world();
    const Topology& topology = store_.topology();
    store_.change_routes(link, up);
    for (PortId p = 0; p < topology.port_count(); ++p) {
        if (topology.link_of(p) != link) {
            continue;
        }
        step::Egress& egress = world.egress[p];
        egress.up = up;
        if (!up) {
            lose_queues(world, egress);
            for (std::uint32_t queue = 0; queue < step::kClasses; ++queue) {
                step::set_paused(egress, queue, false, now);
            }
        }
    }
    store_.set_routes();
    for (const NodeId host : topology.hosts()) {
        redistribute(host, now);
    }
}

}  // namespace sluice::ns3
