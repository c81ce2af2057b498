// SPDX-License-Identifier: Apache-2.0
#include "core/world/world_store.h"

#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "core/world/network_check.h"

namespace sluice::step {

namespace {

void free_lists(World& world) {
    free_vector(world.changed);
    free_vector(world.pauses);
    free_vector(world.went_back);
    free_vector(world.announced);
    free_vector(world.outboxes);
    free_vector(world.calls);
    free_vector(world.stalled);
    free_vector(world.disturbed);
    free_vector(world.called);
    free_vector(world.answers_out);
    free_vector(world.free_slots);
}

/// `config`; ConfigError unless packets can be sent over `topology` with it.
const NetworkConfig& checked(const Topology& topology, const NetworkConfig& config) {
    if (const std::optional<NetworkFault> fault = network_fault(topology, config)) {
        throw ConfigError(fault->text);
    }
    return config;
}

}  // namespace

WorldStore::WorldStore(const Topology& topology, Routing& routing, const NetworkConfig& config,
                       const std::vector<FlowSpec>& flows, const std::vector<FlowPath>& paths,
                       Application* application)
    : topology_(topology),
      routing_(routing),
      config_(checked(topology, config)),
      paths_(paths),
      application_(application),
      base_rtts_(topology, config, paths),
      registry_(flows, topology.node_count()),
      ints_(world_),
      frames_(topology.port_count()) {
    world_.config = &config_;
    world_.payload = config.format.payload;
    world_.pfc = config.pfc;
    world_.ack_strict_in_switch = config.queues.ack_strict_in_switch;
    world_.data_overhead = config.format.header + config.format.extra_header;
    world_.sprayed_classes = config.sprayed_classes();
    build_ports();
    build_buffers();
    build_windows();
    build_flows();
    check_int();
    world_.callbacks.context = this;
    world_.callbacks.route = &WorldStore::route;
    world_.callbacks.take_slot = &WorldStore::take_slot;
    if (application != nullptr) {
        world_.callbacks.received = &WorldStore::received;
        world_.callbacks.sent = &WorldStore::sent;
        world_.callbacks.timer = &WorldStore::timer;
    }
}

WorldStore::~WorldStore() {
    for (std::vector<Wire>* wires : {&link_, &answers_}) {
        for (Wire& wire : *wires) {
            std::free(wire.slots);
        }
    }
    for (Egress& egress : egress_) {
        for (Ring& queue : egress.queue) {
            std::free(queue.slots);
        }
    }
    for (Host& host : host_) {
        free_vector(host.timers);
        free_vector(host.senders);
        free_vector(host.free_senders);
    }
    for (HostPort& port : host_port_) {
        free_vector(port.sender);
        free_vector(port.ready);
    }
    for (FlowRoute& route : route_) {
        std::free(route.ints.words());
    }
    free_lists(world_);
    for (const std::unique_ptr<Worker>& worker : workers_) {
        free_lists(worker->world);
    }
}

}  // namespace sluice::step
