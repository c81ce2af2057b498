// SPDX-License-Identifier: Apache-2.0
/// The network as one SystemC module: put it into a testbench, or let the command line run it.
/// It never calls sc_start or sc_stop and never sets the time resolution.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "core/world/world_store.h"
#include "models/clock/network_clock.h"
#include "models/host_port/port_application.h"
#include "models/nic/nic.h"
#include "models/steady_model.h"
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
    RunHooks hooks;
    Tick stop = kNever;
    /// The network runs up to 1 ms ahead of SystemC in one activation: for one that nothing outside reaches while it
    /// runs. Else it is never ahead by more than a lookahead, or the TLM global quantum, if that is larger.
    bool free_running = false;
    /// A clock for every part of the network: see engine::Engine::keep_partitions(). It pays where the network is free
    /// running.
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

    /// Sockets of the port that faces a foreign model. ConfigError unless the port is one of ours.
    LinkEnd& port(PortId port);
    /// Null where a foreign model stands. ConfigError if there is no such node.
    Node* node(NodeId id);

    /// Opens a flow between two hosts while the network runs, to start at `at`, which is not before
    /// clock().earliest(). From any SystemC process, or before the simulation. Returns its id (core/ids.h).
    /// ConfigError if the network cannot carry it, InternalError if its source is foreign.
    FlowId open_flow(const FlowSpec& spec, Tick at);
    /// The same for a flow that a foreign host sends: what its packets carry in Packet::flow, until it
    /// closes the flow.
    FlowSlot open_foreign_flow(const FlowSpec& spec);
    /// The foreign sender has the ACK of the last packet, having sent `retransmitted` payload bytes more
    /// than once. Reported like any other flow; what it held is given to later ones.
    void close_foreign_flow(FlowSlot slot, std::int64_t retransmitted = 0);
    /// The foreign model at `node` can be taken through skips (models/steady_model.h); it must outlive the simulation.
    /// Before it starts. ConfigError if no foreign model stands there.
    void declare_steady(NodeId node, SteadyModel& model);
    /// The same of a device of whatever kind, or null: a subclass of Node may be a SteadyModel, too.
    SteadyModel* steady_model(NodeId node) const;

    /// True of a host that is a device of the network's own.
    bool is_own_host(NodeId id) const {
        return id < modules_.size() && modules_[id] != nullptr && topology_.is_host(id);
    }
    /// For HostPort: it comes before the simulation starts, and goes.
    void add(HostPort& port);
    void remove(const HostPort& port);
    /// Null: the host has none.
    const HostPort* port_of(NodeId host) const {
        return ports_ == nullptr ? nullptr : ports_->at(host);
    }
    PortApplication& ports() { return *ports_; }

    step::WorldStore& store() { return store_; }
    const step::WorldStore& store() const { return store_; }
    NetworkClock& clock() { return *clock_; }
    const NetworkClock& clock() const { return *clock_; }
    RunCounters counters() const { return clock_->engine().counters(); }

  private:
    void bind_links();
    void start_of_simulation() override;
    void require_open(const FlowSpec& spec, bool ours) const;
    void check_foreign(const NetworkOptions& options, const std::vector<FlowSpec>& flows,
                       const Application* application) const;

    const Topology& topology_;
    std::unique_ptr<PortApplication> ports_;  ///< null where the network is free running
    step::WorldStore store_;
    step::SwitchScratch scratch_;
    LinkBackward backward_;
    std::unique_ptr<step::FlowPartitions> partitions_;
    std::unique_ptr<NetworkClock> clock_;
    std::vector<std::unique_ptr<Node>> modules_;
    std::map<NodeId, SteadyModel*> steady_;  ///< foreign ones
};

}  // namespace sluice
