// SPDX-License-Identifier: Apache-2.0
/// A lane's state back into its WorldStore.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/packet/sender.h"
#include "core/packet/state_fields.h"
#include "gpu/lane/image.h"

namespace sluice::gpu {

using step::World;

void LaneImage::save(step::WorldStore& store) const {
    if (lane_->stage != Stage::choose) {
        throw InternalError("a lane was saved in the middle of a window");
    }
    World& world = store.world();
    const World& from = lane_->world;
    world.events = from.events;
    world.drops = from.drops;
    world.retransmitted = from.retransmitted;
    world.resent_late = from.resent_late;
    world.checksum = from.checksum;
    world.active_senders = from.active_senders;
    std::memcpy(static_cast<void*>(world.buffer), from.buffer,
                world.node_count * sizeof(step::Buffer));
    save_ports(store);
    save_hosts(store);
    save_flows(store);
    save_wakes(store);
    save_jobs();
}

void LaneImage::save_ring(Memory& memory, step::Ring& to, const step::Ring& from) {
    step::Ring source = from;
    to.head = 0;
    to.tail = 0;
    for (; source.head != source.tail; source.pop()) {
        to.push(memory, source.front());
    }
}

void LaneImage::save_ports(step::WorldStore& store) const {
    World& world = store.world();
    const World& from = lane_->world;
    for (std::size_t p = 0; p < ports_; ++p) {
        step::Egress& egress = world.egress[p];
        copy_fields(egress, from.egress[p]);
        for (int queue = 0; queue < step::kClasses; ++queue) {
            save_ring(world.memory, egress.queue[queue], from.egress[p].queue[queue]);
        }
        copy_fields(world.ingress[p], from.ingress[p]);
        step::Wire& link = world.link[p];
        save_ring(world.memory, link, from.link[p]);
        link.base = from.link[p].base;
        link.arrival = from.link[p].arrival;
        link.decision = from.link[p].decision;
    }
    for (std::size_t p = 0; p < host_ports_; ++p) {
        step::HostPort& port = world.host_port[p];
        save_vector(world.memory, port.sender, from.host_port[p].sender);
        save_vector(world.memory, port.ready, from.host_port[p].ready);
        copy_fields(port, from.host_port[p]);
    }
}

void LaneImage::save_hosts(step::WorldStore& store) const {
    World& world = store.world();
    const World& from = lane_->world;
    for (NodeId n = 0; n < world.node_count; ++n) {
        save_vector(world.memory, world.host[n].timers, from.host[n].timers);
        save_vector(world.memory, world.host[n].senders, from.host[n].senders);
        save_vector(world.memory, world.host[n].free_senders, from.host[n].free_senders);
        world.wake[n] = from.wake[n];
    }
}

void LaneImage::save_flows(step::WorldStore& store) const {
    World& world = store.world();
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

void LaneImage::save_wakes(step::WorldStore& store) const {
    World& world = store.world();
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
