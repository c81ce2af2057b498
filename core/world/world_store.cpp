// SPDX-License-Identifier: Apache-2.0
#include "core/world/world_store.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/world/network_check.h"

namespace sluice::step {

namespace {

/// `config`; ConfigError unless packets can be sent over `topology` with it.
const NetworkConfig& checked(const Topology& topology, const NetworkConfig& config) {
    if (const std::optional<NetworkFault> fault = network_fault(topology, config)) {
        throw ConfigError(fault->text);
    }
    return config;
}

/// Without columns.
World world_with(const Topology& topology, const NetworkConfig& config) {
    World world{};
    world.config = &config;
    world.payload = config.format.payload;
    world.train = longest_train(topology, config);
    world.lone_packets = world.train <= 1;
    world.trains_marked_whole = congestion::traits(config.congestion.law).weighs_marks;
    world.pfc = config.pfc;
    world.ack_strict_in_switch = config.queues.ack_strict_in_switch;
    world.data_overhead = config.format.header + config.format.extra_header;
    world.sprayed_classes = config.sprayed_classes();
    world.has_entropy = config.load_balance == LoadBalance::entropy;
    const bool trims = config.trim.threshold > 0;
    world.in_order = config.load_balance == LoadBalance::adaptive ||
                     config.load_balance == LoadBalance::flowlet || trims;
    world.header_room = trims ? static_cast<std::uint32_t>(config.trim.queue) : kUnlimited;
    return world;
}

}  // namespace

WorldStore::WorldStore(const Topology& topology, Routing& routing, const NetworkConfig& config,
                       const std::vector<FlowSpec>& flows, const std::vector<FlowPath>& paths,
                       Application* application)
    : topology_(topology),
      config_(checked(topology, config)),
      application_(application),
      world_(world_with(topology, config)),
      devices_(world_, topology, config),
      network_flows_(world_, topology, routing, config, flows, paths),
      workers_(world_, topology, devices_, network_flows_.columns()),
      frames_(topology.port_count()) {
    if (application_ != nullptr) {
        world_.lookahead = std::min(world_.lookahead, application_->signal_lookahead());
    }
    bind_callbacks();
}

std::size_t WorldStore::living_count() const {
    const FlowColumns& columns = network_flows_.columns();
    return columns.slot_count() - columns.free_count() - workers_.stocked_slots();
}

void WorldStore::take_int_layout(const WorldStore& other) {
    if (living_count() != 0) {
        throw InternalError("INT's layout was to change under flows");
    }
    network_flows_.copy_int_layout(other.network_flows_);
}

void WorldStore::leave_answers_out() {
    devices_.add_cross_streams();
    network_flows_.columns().leave_answers_out();
}

}  // namespace sluice::step
