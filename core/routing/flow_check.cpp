// SPDX-License-Identifier: Apache-2.0
#include "core/routing/flow_check.h"

#include <string>

#include "core/error.h"

namespace sluice {

void check_flow(const Topology& topology, const FlowSpec& flow, FlowId id) {
    const auto fail = [id](const std::string& what) {
        throw ConfigError("flow " + std::to_string(id) + " " + what);
    };
    const std::size_t nodes = topology.node_count();
    if (flow.src >= nodes || flow.dst >= nodes || !topology.is_host(flow.src) ||
        !topology.is_host(flow.dst) || flow.src == flow.dst) {
        fail("goes from node " + std::to_string(flow.src) + " to node " + std::to_string(flow.dst) +
             "; allowed: two different hosts");
    }
    if (flow.size < 1) fail("has " + std::to_string(flow.size) + " bytes; allowed: at least 1");
    if (flow.priority < 1 || flow.priority > 7) {
        fail("has priority " + std::to_string(flow.priority) + "; allowed: 1 to 7");
    }
}

void check_joined(const Routing& routing, const FlowSpec& flow, FlowId id) {
    if (routing.distance(flow.src, flow.dst) >= 0 && routing.distance(flow.dst, flow.src) >= 0) {
        return;
    }
    throw ConfigError("flow " + std::to_string(id) + ": no path from host " +
                      std::to_string(flow.src) + " to host " + std::to_string(flow.dst) +
                      "; packets pass through no hosts but those of topology.forwarding_hosts");
}

}  // namespace sluice
