// SPDX-License-Identifier: Apache-2.0
#include "experiment/testbench/testbench_models.h"

#include <algorithm>

#include "models/host_port/host_port.h"
#include "models/sim_time.h"

namespace sluice {

bool TestbenchModels::is_own(NodeId node) const {
    const Node* const device = network_.node(node);
    return device == nullptr ||
           (device->device_type() != typeid(Nic) && device->device_type() != typeid(Switch));
}

bool TestbenchModels::is_live(NodeId node) const {
    if (is_own(node)) {
        return true;
    }
    const HostPort* const port = network_.port_of(node);
    return port != nullptr && port->holds_awake();
}

bool TestbenchModels::all_nodes(const hybrid::Group& group, const Visit& visit) {
    return std::all_of(group.hosts.begin(), group.hosts.end(), visit) &&
           std::all_of(group.switches.begin(), group.switches.end(), visit);
}

bool TestbenchModels::may_skip(const hybrid::Group& group) const {
    return all_nodes(group, [&](NodeId node) { return !is_live(node) || is_steady(node, group); });
}

bool TestbenchModels::is_steady(NodeId node, const hybrid::Group& group) const {
    if (!may_ask_ || !is_own(node)) {
        return false;
    }
    // A model acts in SystemC's time, behind which nothing of it may be left to do.
    const bool met = to_ticks(sc_core::sc_time_stamp()) == network_.clock().now();
    SteadyModel* const model = network_.steady_model(node);
    return model != nullptr && met && !sends(node) && model->is_steady(ports_of(node, group));
}

/// Flows that a foreign host sends are its own affair: nobody can advance them.
bool TestbenchModels::sends(NodeId host) const {
    if (network_.node(host) != nullptr || !network_.store().topology().is_host(host)) {
        return false;
    }
    const std::vector<FlowSlot> living = network_.store().network_flows().living();
    const step::World& world = network_.store().world();
    return std::any_of(living.begin(), living.end(),
                       [&](FlowSlot flow) { return world.spec[flow].src == host; });
}

std::vector<std::uint32_t> TestbenchModels::ports_of(NodeId node,
                                                     const hybrid::Group& group) const {
    const PortId first = network_.store().topology().first_port(node);
    const PortId last = network_.store().topology().first_port(node + 1);
    std::vector<std::uint32_t> ports;
    for (const PortId port : group.ports) {
        if (port >= first && port < last) {
            ports.push_back(port - first);
        }
    }
    return ports;
}

void TestbenchModels::advance(const hybrid::Group& group, Tick dt) {
    if (!may_ask_ || dt == 0) {
        return;
    }
    all_nodes(group, [&](NodeId node) {
        SteadyModel* const model = is_own(node) ? network_.steady_model(node) : nullptr;
        if (model != nullptr) {
            model->advance(ports_of(node, group), dt);
        }
        return true;
    });
}

}  // namespace sluice
