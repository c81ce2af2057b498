// SPDX-License-Identifier: Apache-2.0
/// A lane's state back into its WorldStore.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/packet/sender.h"
#include "gpu/lane/image.h"

namespace sluice::gpu {

using step::World;

void LaneImage::save() {
    if (lane_->stage != Stage::choose) {
        throw InternalError("a lane was saved in the middle of a window");
    }
    World& world = store_.world();
    const World& from = lane_->world;
    world.events = from.events;
    world.drops = from.drops;
    world.retransmitted = from.retransmitted;
    world.checksum = from.checksum;
    world.active_senders = from.active_senders;
    std::memcpy(static_cast<void*>(world.buffer), from.buffer,
                world.node_count * sizeof(step::Buffer));
    save_ports();
    save_hosts();
    save_flows();
    save_wakes();
    save_jobs();
}

void LaneImage::save_ring(step::Ring& to, const step::Ring& from) {
    step::Ring source = from;
    to.head = 0;
    to.tail = 0;
    for (; source.head != source.tail; source.pop()) {
        to.push(store_.world().memory, source.front());
    }
}

void LaneImage::save_ports() {
    World& world = store_.world();
    const World& from = lane_->world;
    for (std::size_t p = 0; p < ports_; ++p) {
        step::Egress egress = from.egress[p];
        step::Egress& to = world.egress[p];
        egress.serialization = to.serialization;
        egress.out = to.out;
        for (int queue = 0; queue < step::kClasses; ++queue) {
            egress.queue[queue] = to.queue[queue];
            save_ring(egress.queue[queue], from.egress[p].queue[queue]);
        }
        to = egress;
        world.ingress[p] = from.ingress[p];
        step::Wire& link = world.link[p];
        save_ring(link, from.link[p]);
        link.base = from.link[p].base;
        link.arrival = from.link[p].arrival;
        link.decision = from.link[p].decision;
    }
    for (std::size_t p = 0; p < host_ports_; ++p) {
        step::HostPort& port = world.host_port[p];
        save_vector(store_.world().memory, port.sender, from.host_port[p].sender);
        save_vector(store_.world().memory, port.ready, from.host_port[p].ready);
        port.last = from.host_port[p].last;
        port.last_was_ack = from.host_port[p].last_was_ack;
    }
}

void LaneImage::save_hosts() {
    World& world = store_.world();
    const World& from = lane_->world;
    for (NodeId n = 0; n < world.node_count; ++n) {
        save_vector(store_.world().memory, world.host[n].timers, from.host[n].timers);
        save_vector(store_.world().memory, world.host[n].senders, from.host[n].senders);
        save_vector(store_.world().memory, world.host[n].free_senders, from.host[n].free_senders);
        world.wake[n] = from.wake[n];
    }
}

void LaneImage::save_flows() {
    World& world = store_.world();
    const World& from = lane_->world;
    const std::size_t word = world.int_stride * sizeof(congestion::IntRecord);
    for (FlowSlot slot = 0; slot < slots_; ++slot) {
        world.receiver[slot] = from.receiver[slot];
        world.sender_at[slot] = from.sender_at[slot];
        world.result[slot] = from.result[slot];
        world.following[slot] = from.following[slot];
        step::IntBlock& ints = world.route[slot].ints;
        const step::IntBlock& now = from.route[slot].ints;
        step::return_int_slots(world, step::source_of(world, slot), slot);
        if (!now.empty()) {
            ints = step::new_int_block(world.memory, now.size_class(), world.int_stride);
            std::memcpy(ints.words(), now.words(), (std::size_t{now.mask()} + 1) * word);
        }
    }
    std::copy_n(from.queue_pair, connections_, world.queue_pair);
}

void LaneImage::save_wakes() {
    World& world = store_.world();
    std::fill_n(world.block_wake, (world.cell_count + 63) / 64, kNever);
    for (NodeId n = 0; n < world.node_count; ++n) {
        Tick wake = world.is_host[n] != 0 ? world.wake[n] : kNever;
        for (PortId p = world.first_port[n]; p < world.first_port[n + 1]; ++p) {
            wake = std::min({wake, world.link[p].arrival, world.link[p].decision});
        }
        world.wake[n] = wake;
        world.block_wake[n / 64] = std::min(world.block_wake[n / 64], wake);
    }
}

}  // namespace sluice::gpu
