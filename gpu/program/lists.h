// SPDX-License-Identifier: Apache-2.0
/// Lists of what a window concerns (gpu/program/lane.h), each thing once, so that a window costs what there is
/// to do and not how large the network is. Any thread adds; they are read behind a barrier.
#pragma once

#include "gpu/program/counting.h"
#include "gpu/program/lane.h"

namespace sluice::gpu {

SLUICE_HD inline void add_to(WindowList& list, std::uint32_t thing) {
    list.things[add_shared(list.count, 1)] = thing;
}

/// `gather` is to look at the host.
SLUICE_HD inline void touch_host(Lane& lane, NodeId host) {
    HostPlan& plan = lane.host_plan[host];
    if (claim_shared(plan.touched)) {
        add_to(lane.touched_hosts, plan.place);
    }
}

/// `gather` is to look at the port, a switch's.
SLUICE_HD inline void touch_port(Lane& lane, PortPlan& plan) {
    if (claim_shared(plan.touched)) {
        add_to(lane.touched_ports, plan.place);
    }
}

/// `gather` is to look at who receives what `port` has sent, if it has sent anything.
SLUICE_HD inline void touch_receiver(Lane& lane, const step::World& world, PortId port) {
    const PortId outbox = world.egress[port].out;
    if (world.link[outbox].empty()) {
        return;
    }
    const PortId receiver = outbox - world.first_outbox;
    if (receiver < lane.first_plan || world.is_host[lane.node_of[receiver]] != 0) {
        touch_host(lane, lane.node_of[receiver]);
    } else {
        touch_port(lane, plan_of(lane, receiver));
    }
}

/// `pull` is to look at the port, a switch's.
SLUICE_HD inline void list_leaving(Lane& lane, PortPlan& plan) {
    if (claim_shared(plan.leaves)) {
        add_to(lane.leaving, plan.place);
    }
}

/// A host's or switch port's next instant may have changed.
SLUICE_HD inline void outdate_host(Lane& lane, std::uint32_t place) {
    set_shared(lane.outdated[place / kBlock], 1);
}
SLUICE_HD inline void outdate_port(Lane& lane, std::uint32_t place) {
    set_shared(lane.outdated[blocks_of(lane.host_count) + place / kBlock], 1);
}

}  // namespace sluice::gpu
