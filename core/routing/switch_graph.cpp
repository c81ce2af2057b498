// SPDX-License-Identifier: Apache-2.0
#include "core/routing/switch_graph.h"

#include <utility>

namespace sluice {

SwitchGraph::SwitchGraph(const Topology& topology)
    : topology_(topology),
      index_of_(topology.node_count(), kNone),
      first_edge_{0},
      up_(topology.links().size(), 1) {
    const auto nodes = static_cast<NodeId>(topology.node_count());
    for (NodeId node = 0; node < nodes; ++node) {
        if (!topology.is_host(node)) {
            index_of_[node] = static_cast<std::uint32_t>(nvswitch_.size());
            nvswitch_.push_back(topology.kind(node) == NodeKind::nvswitch ? 1 : 0);
        }
    }
    for (NodeId node = 0; node < nodes; ++node) {
        if (topology.is_host(node)) {
            continue;
        }
        for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
             ++port) {
            const std::uint32_t to = index_of_[topology.neighbor(port)];
            if (to != kNone) {
                edges_.push_back({to, port});
            }
        }
        first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
    }
}

void SwitchGraph::set_link(LinkId link, bool up) {
    up_[link] = up ? 1 : 0;
    const Link& cable = topology_.links()[link];
    const std::uint32_t a = index_of_[cable.a];
    const std::uint32_t b = index_of_[cable.b];
    if (a == kNone || b == kNone) {
        return;
    }
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        for (std::uint32_t edge = first_edge_[from]; edge < first_edge_[from + 1]; ++edge) {
            if (topology_.link_of(edges_[edge].port) == link) {
                edges_[edge].to = up ? to : from;
            }
        }
    }
}

std::size_t SwitchGraph::memory_bytes() const {
    return (index_of_.capacity() + first_edge_.capacity()) * sizeof(std::uint32_t) +
           edges_.capacity() * sizeof(Edge) + nvswitch_.capacity() + up_.capacity();
}

}  // namespace sluice
