// SPDX-License-Identifier: Apache-2.0
/// The network as one SystemC module: put it into a testbench, or let the command line run it.
/// It never calls sc_start or sc_stop and never sets the time resolution.
#pragma once

#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "core/world/world_store.h"
#include "models/clock/partition_clock.h"
#include "models/nic/nic.h"
#include "models/switch/switch.h"

namespace sluice {

struct NetworkOptions {
    /// Makes the module of a node in place of Switch or Nic (a subclass that overrides step()), or
    /// returns null for the default one. The object belongs to the network.
    std::function<std::unique_ptr<Node>(const char* name, NodeId id, const Node::Context& context,
                                        step::SwitchScratch& scratch)>
        make_node;
    /// Nodes that are models of the user's own: the network builds nothing for them. Bind the
    /// neighbours' sockets (Network::port) to the model's before the simulation starts.
    std::vector<NodeId> foreign;
    std::vector<LinkEvent> link_events;
    step::DriverHooks hooks;
    Tick stop = kNever;
    /// Partition clocks: see PartitionClock::divide(), which also takes a supervisor.
    bool partition_clocks = false;
};

class Network : public sc_core::sc_module {
  public:
    /// All references must outlive the network. `paths` is empty or one per flow; `application`
    /// may be null. Throws ConfigError (see WorldStore).
    Network(const sc_core::sc_module_name& name, const Topology& topology, Routing& routing,
            const NetworkConfig& config, const std::vector<FlowSpec>& flows,
            const std::vector<FlowPath>& paths, Application* application,
            NetworkOptions options = {});
    ~Network() override;

    /// Sockets of the port that faces a foreign model.
    LinkEnd& port(PortId port);
    Node* node(NodeId id) { return modules_[id].get(); }

    step::WorldStore& store() { return store_; }
    const step::WorldStore& store() const { return store_; }
    PartitionClock& clock() { return *clock_; }
    const PartitionClock& clock() const { return *clock_; }
    RunCounters counters() const;

  private:
    void start_of_simulation() override;

    const Topology& topology_;
    step::WorldStore store_;
    step::SwitchScratch scratch_;
    LinkBackward backward_;
    std::unique_ptr<step::FlowPartitions> partitions_;
    std::unique_ptr<PartitionClock> clock_;
    std::vector<std::unique_ptr<Node>> modules_;
};

}  // namespace sluice
