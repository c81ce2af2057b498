// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/image.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/packet/sender.h"
#include "core/world/network_check.h"
#include "gpu/lane/device_error.h"
#include "gpu/lane/job_bounds.h"

namespace sluice::gpu {

using step::World;

namespace {

/// Slots of a ring that holds `count` packets.
std::uint32_t ring_capacity(std::uint32_t count) {
    std::uint32_t capacity = count == 0 ? 0 : 16;
    while (capacity < count) {
        capacity *= 2;
    }
    return capacity;
}

std::size_t ring_bytes(const step::Ring& ring) {
    return rounded(ring_capacity(ring.size()) * sizeof(step::Packet));
}

template <class T>
std::size_t vector_bytes(const PlainVector<T>& vector) {
    return rounded(vector.count * sizeof(T));
}

}  // namespace

LaneImage::LaneImage(const step::WorldStore& store, const std::vector<const JobApplication*>& jobs,
                     RouteImage routes, MemorySource& memory, const LaneMemory& plan)
    : jobs_(jobs),
      routes_(std::move(routes)),
      plan_(plan),
      segments_(memory),
      ports_(store.topology().port_count()),
      slots_(store.slot_count()),
      connections_(connection_count(store.flows())),
      first_plan_(static_cast<PortId>(ports_)) {
    const Topology& topology = store.topology();
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        if (topology.is_host(n)) {
            host_ports_ = topology.first_port(n + 1);
        } else {
            first_plan_ = std::min(first_plan_, topology.first_port(n));
        }
    }
    load(store);
}

/// Null: there is none.
void* LaneImage::segment(std::size_t bytes) {
    if (bytes > plan_.most - std::min(plan_.most, bytes_)) {
        throw DeviceError("the network needs more than the " + std::to_string(plan_.most) +
                          " bytes of memory that a lane may take");
    }
    segments_.blocks.reserve(segments_.blocks.size() + 1);
    void* const block = segments_.memory.allocate(bytes);
    if (block != nullptr) {
        segments_.blocks.push_back(block);
        bytes_ += bytes;
    }
    return block;
}

/// A quarter more; or, if the last segment was too small for what was asked of it, one twice as large.
std::size_t LaneImage::more(const Arena& full) const {
    std::size_t bytes = std::max(plan_.segment, rounded(bytes_ / 4));
    if (2 * full.used < full.size) {
        bytes = std::max(bytes, rounded(2 * full.size));
    }
    return bytes;
}

Arena LaneImage::grow(const Arena& full) {
    const std::size_t bytes = more(full);
    void* const block = segment(bytes);
    if (block == nullptr) {
        return Arena{};
    }
    segments_.memory.bring(block, side_);
    return Arena{static_cast<unsigned char*>(block), bytes, 0};
}

void* LaneImage::place_bytes(std::size_t bytes) {
    void* const block = take(lane_->arena, bytes);
    if (block == nullptr) {
        throw InternalError("a lane's memory was planned too small");
    }
    return block;
}

void LaneImage::copy_ring(step::Ring& to, const step::Ring& from) {
    step::Ring source = from;
    const std::uint32_t count = source.size();
    to.capacity = ring_capacity(count);
    to.slots = to.capacity > 0 ? place<step::Packet>(to.capacity) : nullptr;
    for (std::uint32_t i = 0; i < count; ++i) {
        to.slots[i] = source.at(source.head + i);
    }
    to.head = 0;
    to.tail = count;
}

void LaneImage::copy_ints(step::IntBlock& to, const step::IntBlock& from) {
    if (!from.empty()) {
        Memory memory;
        memory.arena = &lane_->arena;
        to = step::new_int_block(memory, from.size_class(), lane_->world.int_stride);
        if (to.empty()) {
            throw InternalError("a lane's memory was planned too small");
        }
        std::memcpy(to.words(), from.words(),
                    (std::size_t{from.mask()} + 1) * lane_->world.int_stride *
                        sizeof(congestion::IntRecord));
    }
}

std::size_t LaneImage::bytes_needed(const step::WorldStore& store) const {
    const World& world = store.world();
    const std::size_t nodes = world.node_count;
    const std::size_t table =
        rounded((static_cast<std::size_t>(step::largest_packet(store.config())) + 1) *
                sizeof(std::uint32_t));
    std::size_t bytes = rounded(sizeof(Lane)) + rounded(sizeof(StepConfig));
    // Columns, each rounded up.
    bytes += 64 * 58;
    bytes += ports_ * (sizeof(step::Egress) + sizeof(step::Ingress) + 2 * sizeof(step::Wire) +
                       sizeof(std::uint16_t) + sizeof(NodeId));
    bytes += host_ports_ * sizeof(step::HostPort);
    // With a switch port's part of its block's instant, and its places in lists.
    bytes += (ports_ - first_plan_) * (sizeof(PortPlan) + sizeof(Tick) + sizeof(PortId) +
                                       sizeof(Tick) / kBlock + 1 + 3 * sizeof(std::uint32_t));
    bytes += nodes * (sizeof(HostPlan) + sizeof(step::Host) + sizeof(step::Buffer) +
                      sizeof(SwitchPlan) + sizeof(Tick) + sizeof(CellId) + 3 * sizeof(NodeId) +
                      sizeof(PortId) + 1 + sizeof(Tick) / kBlock + 1 + 3 * sizeof(std::uint32_t));
    bytes += slots_ *
             (sizeof(FlowId) + sizeof(FlowSpec) + sizeof(step::FlowRoute) + sizeof(step::Receiver) +
              sizeof(FlowResult) + sizeof(std::int64_t) + sizeof(Tick) + 2 * sizeof(std::uint32_t));
    bytes += connections_ * sizeof(step::QueuePair);
    std::map<const std::uint32_t*, bool> tables;
    for (std::size_t p = 0; p < ports_; ++p) {
        const step::Egress& egress = world.egress[p];
        bytes += tables.emplace(egress.serialization, true).second ? table : 0;
        bytes += ring_bytes(world.link[p]);
        for (const step::Ring& ring : egress.queue) {
            bytes += ring_bytes(ring);
        }
    }
    for (std::size_t p = 0; p < host_ports_; ++p) {
        bytes += vector_bytes(world.host_port[p].sender) + vector_bytes(world.host_port[p].ready);
    }
    for (std::size_t n = 0; n < nodes; ++n) {
        const step::Host& host = world.host[n];
        bytes += vector_bytes(host.timers) + vector_bytes(host.senders) +
                 vector_bytes(host.free_senders);
    }
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        const step::IntBlock& ints = world.route[slot].ints;
        bytes += ints.empty() ? 0
                              : rounded((std::size_t{ints.mask()} + 1) * world.int_stride *
                                        sizeof(congestion::IntRecord));
    }
    if (routes_.columns > 0) {
        bytes += rounded(sizeof(step::RouteTable)) + routes_.bytes();
    }
    return bytes + bytes_of_jobs(jobs_);
}

void LaneImage::load(const step::WorldStore& store) {
    needed_ = bytes_needed(store);
    const std::size_t bytes = needed_ + plan_.slack;
    Arena arena;
    arena.base = static_cast<unsigned char*>(segment(bytes));
    if (arena.base == nullptr) {
        throw DeviceError("the device has no " + std::to_string(bytes) + " bytes for a lane");
    }
    segments_.memory.bring(arena.base, Side::host);  // a lane before may have left it on the device
    arena.size = bytes;
    void* const block = take(arena, sizeof(Lane));
    lane_ = new (block) Lane;
    lane_->arena = arena;
    load_columns(store.world());
    load_routes();
    load_ports(store);
    load_hosts(store.world());
    load_flows(store.world());
    load_items();
    load_jobs();
}

void LaneImage::load_columns(const World& from) {
    World& world = lane_->world;
    static_cast<step::Columns&>(world) = from;
    world.events = from.events;
    world.drops = from.drops;
    world.retransmitted = from.retransmitted;
    world.resent_late = from.resent_late;
    world.checksum = from.checksum;
    world.active_senders = from.active_senders;
    world.memory.arena = &lane_->arena;
    world.lane = lane_;
    world.block_wake = nullptr;
    world.callbacks = step::Callbacks{};
    world.callbacks.context = from.callbacks.context;
    const std::size_t nodes = from.node_count;
    world.first_port = copy(from.first_port, nodes + 1);
    world.is_host = copy(from.is_host, nodes);
    world.buffer = copy(from.buffer, nodes);
    world.home = copy(from.home, nodes);
    world.wake = copy(from.wake, nodes);
    world.config = copy(from.config, 1);
    world.first_outbox = static_cast<PortId>(ports_);
}

void LaneImage::load_routes() {
    if (routes_.columns == 0) {
        return;
    }
    auto* const table = place<step::RouteTable>(1);
    *table = step::RouteTable{};
    table->columns = routes_.columns;
    table->column = copy(routes_.column.data(), routes_.column.size());
    table->row = copy(routes_.row.data(), routes_.row.size());
    table->next = copy(routes_.next.data(), routes_.next.size());
    table->far = copy(routes_.far.data(), routes_.far.size());
    table->ports = copy(routes_.ports.data(), routes_.ports.size());
    table->way = copy(routes_.way.data(), routes_.way.size());
    lane_->world.table = table;
    routes_ = RouteImage{};
}

void LaneImage::load_ports(const step::WorldStore& store) {
    const World& from = store.world();
    World& world = lane_->world;
    const std::size_t table = static_cast<std::size_t>(step::largest_packet(store.config())) + 1;
    world.egress = copy(from.egress, ports_);
    world.ingress = copy(from.ingress, ports_);
    world.link = place<step::Wire>(2 * ports_);
    world.host_port = place<step::HostPort>(host_ports_);
    tables_.clear();
    for (std::size_t p = 0; p < ports_; ++p) {
        step::Egress& egress = world.egress[p];
        const std::uint32_t*& known = tables_[egress.serialization];
        if (known == nullptr) {
            known = copy(egress.serialization, table);
        }
        egress.serialization = known;
        egress.out = world.first_outbox + egress.peer;
        for (int queue = 0; queue < step::kClasses; ++queue) {
            copy_ring(egress.queue[queue], from.egress[p].queue[queue]);
        }
        world.link[p] = from.link[p];
        copy_ring(world.link[p], from.link[p]);
        world.link[ports_ + p] = step::Wire{};
        world.link[ports_ + p].base = from.link[p].base;
    }
    for (std::size_t p = 0; p < host_ports_; ++p) {
        world.host_port[p] = from.host_port[p];
        copy_vector(world.host_port[p].sender, from.host_port[p].sender);
        copy_vector(world.host_port[p].ready, from.host_port[p].ready);
    }
}

void LaneImage::load_hosts(const World& from) {
    World& world = lane_->world;
    world.host = place<step::Host>(from.node_count);
    for (NodeId n = 0; n < from.node_count; ++n) {
        step::Host& host = world.host[n];
        host = step::Host{};
        copy_vector(host.timers, from.host[n].timers);
        copy_vector(host.senders, from.host[n].senders);
        copy_vector(host.free_senders, from.host[n].free_senders);
    }
}

void LaneImage::load_flows(const World& from) {
    World& world = lane_->world;
    world.id = copy(from.id, slots_);
    world.spec = copy(from.spec, slots_);
    world.route = copy(from.route, slots_);
    world.receiver = copy(from.receiver, slots_);
    world.sender_at = copy(from.sender_at, slots_);
    world.result = copy(from.result, slots_);
    world.following = copy(from.following, slots_);
    world.flow_window = copy(from.flow_window, slots_);
    world.flow_base_rtt = copy(from.flow_base_rtt, slots_);
    world.queue_pair = copy(from.queue_pair, connections_);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        copy_ints(world.route[slot].ints, from.route[slot].ints);
    }
}

void LaneImage::load_items() {
    const World& world = lane_->world;
    Lane& lane = *lane_;
    NodeId* const hosts = place<NodeId>(world.node_count);
    NodeId* const switches = place<NodeId>(world.node_count);
    PortId* const switch_ports = place<PortId>(ports_ - first_plan_);
    NodeId* const node_of = place<NodeId>(ports_);
    lane.first_plan = first_plan_;
    lane.port_plan = place<PortPlan>(ports_ - first_plan_);
    lane.arrived = place<std::uint16_t>(ports_);
    lane.switch_plan = place<SwitchPlan>(world.node_count);
    lane.host_plan = place<HostPlan>(world.node_count);
    lane.next = place<Tick>(ports_ - first_plan_);
    for (NodeId n = 0; n < world.node_count; ++n) {
        lane.switch_plan[n] = SwitchPlan{};
        lane.host_plan[n] = HostPlan{};
        lane.host_plan[n].place = lane.host_count;
        const bool host = world.is_host[n] != 0;
        (host ? hosts[lane.host_count++] : switches[lane.switch_count++]) = n;
        for (PortId p = world.first_port[n]; p < world.first_port[n + 1]; ++p) {
            node_of[p] = n;
            if (!host) {
                PortPlan& plan = plan_of(lane, p);
                plan = PortPlan{};
                plan.place = lane.switch_port_count;
                lane.next[lane.switch_port_count] =
                    std::min(world.link[p].arrival, world.link[p].decision);
                switch_ports[lane.switch_port_count++] = p;
            }
        }
    }
    lane.hosts = hosts;
    lane.switches = switches;
    lane.switch_ports = switch_ports;
    lane.node_of = node_of;
    load_lists();
}

void LaneImage::load_lists() {
    Lane& lane = *lane_;
    const std::uint32_t blocks = blocks_of(lane.host_count) + blocks_of(lane.switch_port_count);
    lane.block_next = place<Tick>(blocks);
    lane.outdated = place<std::uint32_t>(blocks);
    std::fill_n(lane.outdated, blocks, 1U);
    for (WindowList* const list : {&lane.active_hosts, &lane.touched_hosts, &lane.callers}) {
        list->things = place<std::uint32_t>(lane.host_count);
    }
    for (WindowList* const list : {&lane.active_ports, &lane.touched_ports, &lane.leaving}) {
        list->things = place<std::uint32_t>(lane.switch_port_count);
    }
    lane.awake.things = place<std::uint32_t>(lane.switch_count);
}

}  // namespace sluice::gpu
