// SPDX-License-Identifier: Apache-2.0
/// The flows of a network: opens them, gives each its slot, route and base RTT when it starts, and closes them.
/// The order of what it is called for decides slots, but nothing that flows do depends on their slots.
#pragma once

#include <cstdint>
#include <vector>

#include "core/packet/network_config.h"
#include "core/topology/topology.h"
#include "core/world/base_rtts.h"
#include "core/world/flow_columns.h"
#include "core/world/flow_registry.h"
#include "core/world/flow_routes.h"
#include "core/world/int_layout.h"

namespace sluice::step {

class NetworkFlows {
  public:
    /// As WorldStore's, whose columns of devices are there.
    NetworkFlows(World& world, const Topology& topology, Routing& routing,
                 const NetworkConfig& config, const std::vector<FlowSpec>& list,
                 const std::vector<FlowPath>& paths);

    FlowRegistry& registry() { return registry_; }
    const FlowRegistry& registry() const { return registry_; }
    FlowColumns& columns() { return columns_; }
    const FlowColumns& columns() const { return columns_; }
    const FlowRoutes& routes() const { return routes_; }

    /// WorldStore's calls of these names, and its open_flow().
    void pin_list();
    FlowId open(World& world, FlowSpec spec, Tick at);
    FlowSlot open_slot(FlowSpec spec);
    void close_slot(FlowSlot slot, std::int64_t retransmitted, Tick now);
    void release(FlowSlot slot);
    void change_routes(LinkId link, bool up);
    void set_routes() { routes_.renew(columns_.slot_count()); }

    /// The slot of a flow whose start has come at `host`; kNone if it cannot be had in a shared window.
    FlowSlot take_start(World& world, NodeId host, FlowId id);

    FlowRecord record(FlowSlot slot) const { return columns_.record(slot); }
    /// Flows that have a slot, in order of their ids.
    std::vector<FlowSlot> living() const { return columns_.living(); }
    /// Those of them that have started and are not complete.
    std::vector<FlowSpec> under_way() const;
    /// Of the list, by id; costs the slots.
    const std::vector<FlowResult>& results() const {
        return registry_.results(world_, columns_.slot_count());
    }

    void copy_int_layout(const NetworkFlows& other) { ints_.copy(other.ints_); }
    std::size_t memory_bytes() const;

  private:
    int switches_between(const FlowSpec& spec) const {
        return routes_.routing().distance(spec.src, spec.dst) - 1;
    }
    void provide_ints(const std::vector<FlowPath>& paths);
    void check_opened(const FlowSpec& spec);
    bool fits(const FlowSpec& spec) const;
    void make_room(const FlowSpec& spec);
    void reserve_connections(ConnectionId count);
    FlowSlot take_slot(FlowId id, const FlowSpec& spec);
    void fill_slot(FlowSlot slot, FlowId id, const FlowSpec& spec);

    World& world_;
    const Topology& topology_;
    const NetworkConfig& config_;
    BaseRtts base_rtts_;
    FlowRegistry registry_;
    FlowColumns columns_;
    FlowRoutes routes_;
    IntLayout ints_;
    /// By source host: the destination of the flow that it opened last, to which a path exists while no link is down.
    std::vector<NodeId> last_peer_;
};

}  // namespace sluice::step
