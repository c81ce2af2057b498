// SPDX-License-Identifier: Apache-2.0
#include "models/network.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "models/report.h"
#include "models/sim_time.h"

namespace sluice {
namespace {

/// What ns-3's order of events leaves no choice of.
void check_arithmetic(const NetworkConfig& config, const NetworkOptions& options) {
    if (config.arithmetic != Arithmetic::ns3) {
        return;
    }
    if (options.make_node || !options.foreign.empty() || options.partition_clocks) {
        throw ConfigError(
            "network.arithmetic = \"ns3\" keeps one order of events over the whole network: no "
            "node can be a model of one's own; allowed: \"exact\"");
    }
    if (config.queues.scheduler != Scheduler{}) {
        throw ConfigError(
            "network.arithmetic = \"ns3\" serves classes packet by packet in turn; allowed: no "
            "other network.queues.scheduler, or \"exact\"");
    }
}

/// ConfigError unless `topology` has the node.
void check_node(const Topology& topology, NodeId node, const std::string& who) {
    if (node >= topology.node_count()) {
        throw ConfigError(who + " node " + std::to_string(node) + "; allowed: 0 to " +
                          std::to_string(topology.node_count() - 1));
    }
}

/// Others than those of host ports.
ConnectionId connections_of(const std::vector<FlowSpec>& flows, const Application* application) {
    return std::max(connection_count(flows),
                    application == nullptr ? 0 : application->connection_count());
}

}  // namespace

Network::Network(const sc_core::sc_module_name& name, const Topology& topology, Routing& routing,
                 const NetworkConfig& config, const std::vector<FlowSpec>& flows,
                 const std::vector<FlowPath>& paths, Application* application,
                 NetworkOptions options)
    : sc_module(name),
      topology_(topology),
      ports_(options.free_running
                 ? nullptr
                 : std::make_unique<PortApplication>(application, topology.node_count(),
                                                     connections_of(flows, application))),
      store_(topology, routing, config, flows, paths,
             ports_ != nullptr ? ports_.get() : application),
      clock_(std::make_unique<NetworkClock>("clock", store_)) {
    check_arithmetic(config, options);
    check_foreign(options, flows, application);
    clock_->configure(std::move(options.link_events), std::move(options.hooks), options.stop);
    if (options.free_running) {
        clock_->run_free();
    }
    if (options.partition_clocks) {
        partitions_ = std::make_unique<step::FlowPartitions>(store_);
        clock_->engine().keep_partitions(engine::Clocks::many, *partitions_, nullptr);
    }
    if (!options.foreign.empty()) {
        store_.pin_list();
    }
    const Node::Context context{store_.world(), *clock_, backward_};
    modules_.resize(topology.node_count());
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        if (std::find(options.foreign.begin(), options.foreign.end(), n) != options.foreign.end()) {
            continue;
        }
        const bool host = topology.is_host(n);
        const std::string module_name = (host ? "nic" : "switch") + std::to_string(n);
        if (options.make_node) {
            modules_[n] = options.make_node(module_name.c_str(), n, context, scratch_);
        }
        if (modules_[n] != nullptr && options.partition_clocks &&
            !modules_[n]->admits_as_configured()) {
            throw ConfigError(module_name +
                              " has an admission rule of its own, which partition clocks cannot "
                              "ask; allowed: network.buffer.admission, or one clock");
        }
        if (modules_[n] == nullptr && host) {
            modules_[n] = std::make_unique<Nic>(module_name.c_str(), n, context);
        } else if (modules_[n] == nullptr) {
            modules_[n] = std::make_unique<Switch>(module_name.c_str(), n, context, scratch_);
        }
    }
    bind_links();
    std::vector<Node*> nodes(modules_.size());
    std::transform(modules_.begin(), modules_.end(), nodes.begin(),
                   [](const std::unique_ptr<Node>& module) { return module.get(); });
    clock_->attach(std::move(nodes));
}

void Network::bind_links() {
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        const PortId peer = topology_.peer_of(p);
        if (modules_[topology_.node_of(p)] != nullptr &&
            modules_[topology_.node_of(peer)] != nullptr) {
            port(p).out.bind(port(peer).in);
        }
    }
}

Network::~Network() {
    // Last built, first destroyed: SystemC looks for what it unregisters from the end.
    while (!modules_.empty()) {
        modules_.pop_back();
    }
    step::free_scratch(scratch_);
}

void Network::check_foreign(const NetworkOptions& options, const std::vector<FlowSpec>& flows,
                            const Application* application) const {
    std::vector<std::uint8_t> foreign(topology_.node_count(), 0);
    for (const NodeId node : options.foreign) {
        check_node(topology_, node, "NetworkOptions::foreign names");
        foreign[node] = 1;
        if (application != nullptr && application->waits_at(node)) {
            throw ConfigError("the application has something at host " + std::to_string(node) +
                              ", which is a foreign model: nobody would tell it there what "
                              "arrives; allowed: an application at the network's own hosts");
        }
    }
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        const FlowSpec& spec = flows[flow];
        if (foreign[spec.src] != 0 && spec.start != kNever) {
            throw ConfigError("flow " + std::to_string(flow) + " is to start at " +
                              std::to_string(spec.start) + " ps at host " +
                              std::to_string(spec.src) +
                              ", which is a foreign model and starts its own; allowed: kNever");
        }
    }
    if (congestion::traits(store_.config().congestion.law).uses_int) {
        const auto blind = std::find_if(options.foreign.begin(), options.foreign.end(),
                                        [&](NodeId node) { return !topology_.is_host(node); });
        if (blind != options.foreign.end()) {
            SC_REPORT_WARNING(
                "sluice/network",
                ("switch " + std::to_string(*blind) +
                 " is a foreign model and writes no INT records: the law learns "
                 "nothing of it, and flows that meet no other switch keep their first rate")
                    .c_str());
        }
    }
}

void Network::add(HostPort& port) {
    const std::string what =
        "host port " + std::string(port.name()) + " of node " + std::to_string(port.host());
    if (ports_ == nullptr) {
        throw ConfigError(what +
                          ": the network is free running, so that nothing can be posted in "
                          "time; allowed: NetworkOptions::free_running = false");
    }
    if (!is_own_host(port.host())) {
        throw ConfigError(what +
                          ": that is no host of the network's own; allowed: a host that is "
                          "not in NetworkOptions::foreign");
    }
    if (ports_->at(port.host()) != nullptr) {
        throw ConfigError(what + ": the host has a port already");
    }
    ports_->add(port);
}

void Network::remove(const HostPort& port) { ports_->remove(port); }

Node* Network::node(NodeId id) {
    check_node(topology_, id, "Network::node() was asked for");
    return modules_[id].get();
}

LinkEnd& Network::port(PortId port) {
    if (port >= topology_.port_count()) {
        throw ConfigError("Network::port() was asked for port " + std::to_string(port) +
                          "; allowed: 0 to " + std::to_string(topology_.port_count() - 1));
    }
    const NodeId node = topology_.node_of(port);
    if (modules_[node] == nullptr) {
        throw ConfigError("Network::port(" + std::to_string(port) + ") is of node " +
                          std::to_string(node) +
                          ", which is a foreign model and has its own sockets; bind them to those "
                          "of the neighbour, port(topology.peer_of(port))");
    }
    return modules_[node]->port(port - topology_.first_port(node));
}

FlowId Network::open_flow(const FlowSpec& spec, Tick at) {
    require_open(spec, true);
    if (const Tick earliest = clock_->earliest(); at < earliest) {
        refuse("sluice/network", "a flow was opened for " + std::to_string(at) +
                                     " ps, before the network's local time " +
                                     std::to_string(earliest) + " ps");
    }
    step::World& world = store_.world();
    const FlowId id = store_.open_flow(world, spec, at);
    if (world.callbacks.call_set != nullptr) {
        world.callbacks.call_set(world.callbacks.call_set_context, spec.src, at);
    }
    clock_->wake();
    return id;
}

FlowSlot Network::open_foreign_flow(const FlowSpec& spec) {
    require_open(spec, false);
    const FlowSlot slot = store_.open_slot(spec);
    store_.world().result[slot].start = to_ticks(sc_core::sc_time_stamp());
    return slot;
}

void Network::close_foreign_flow(FlowSlot slot, std::int64_t retransmitted) {
    if (slot >= store_.slot_count() || store_.world().id[slot] == kNoFlow ||
        modules_[store_.world().spec[slot].src] != nullptr) {
        refuse("sluice/network", "only a foreign host's own flow can be closed");
    }
    store_.close_slot(slot, retransmitted, to_ticks(sc_core::sc_time_stamp()));
    clock_->take_up_closed();
}

void Network::declare_steady(NodeId node, SteadyModel& model) {
    check_node(topology_, node, "Network::declare_steady() names");
    if (modules_[node] != nullptr) {
        throw ConfigError("Network::declare_steady() names node " + std::to_string(node) +
                          ", a device of the network's; allowed: a node in "
                          "NetworkOptions::foreign, or a subclass that is a SteadyModel");
    }
    steady_[node] = &model;
    clock_->meet_cuts();
}

SteadyModel* Network::steady_model(NodeId node) const {
    if (modules_[node] != nullptr) {
        return dynamic_cast<SteadyModel*>(modules_[node].get());
    }
    const auto found = steady_.find(node);
    return found == steady_.end() ? nullptr : found->second;
}

/// InternalError unless the flow's source is a device of ours, or is none.
void Network::require_open(const FlowSpec& spec, bool ours) const {
    if (spec.src < modules_.size() && (modules_[spec.src] != nullptr) != ours) {
        throw InternalError(ours ? "a foreign host's flow is opened by open_foreign_flow()"
                                 : "a flow of a host of ours is opened by open_flow()");
    }
}

void Network::start_of_simulation() {
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        if (modules_[topology_.node_of(p)] == nullptr) {
            continue;
        }
        step::Packet request;
        tlm::tlm_dmi answer;
        PacketInitiatorSocket& out = port(p).out;
        if (!out->get_direct_mem_ptr(request, answer)) {
            clock_->attach_foreign(p, out);
        } else if (answer.get_dmi_ptr() !=
                   reinterpret_cast<unsigned char*>(&store_.world().link[topology_.peer_of(p)])) {
            throw InternalError("a direct link does not lead to the peer of its port");
        }
    }
}

}  // namespace sluice
