// SPDX-License-Identifier: Apache-2.0
#include "core/topology/nvlink_servers.h"

#include <algorithm>

namespace sluice {

namespace {

/// Sizes of the runs of hosts that NVSwitches join; empty: a host has none, or they are no runs.
std::vector<std::uint32_t> nvswitch_runs(const Topology& topology) {
    std::vector<std::uint32_t> sizes;
    std::vector<std::uint8_t> seen(topology.node_count(), 0);
    const std::vector<NodeId>& hosts = topology.hosts();
    for (std::size_t at = 0; at < hosts.size();) {
        std::vector<NodeId> reached = {hosts[at]};
        seen[hosts[at]] = 1;
        std::vector<NodeId> gpus;
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const NodeId node = reached[i];
            if (topology.is_host(node)) gpus.push_back(node);
            const PortId first = topology.first_port(node);
            for (PortId port = first; port < first + topology.port_count(node); ++port) {
                const NodeId next = topology.neighbor(port);
                const bool nvlink = topology.kind(node) == NodeKind::nvswitch ||
                                    topology.kind(next) == NodeKind::nvswitch;
                if (!nvlink || seen[next] != 0 || topology.kind(next) == NodeKind::ethernet)
                    continue;
                seen[next] = 1;
                reached.push_back(next);
            }
        }
        std::sort(gpus.begin(), gpus.end());
        if (reached.size() == 1 || at + gpus.size() > hosts.size() ||
            !std::equal(gpus.begin(), gpus.end(),
                        hosts.begin() + static_cast<std::ptrdiff_t>(at))) {
            return {};
        }
        sizes.push_back(static_cast<std::uint32_t>(gpus.size()));
        at += gpus.size();
    }
    return sizes;
}

}  // namespace

void take_servers_of_nvswitches(Topology& topology) {
    const std::uint32_t usual = topology.gpus_per_server;
    if (usual < 2) return;
    const std::vector<std::uint32_t> sizes = nvswitch_runs(topology);
    bool apart = false;  // a run lies in two servers of the usual size
    std::uint32_t begin = 0;
    for (const std::uint32_t size : sizes) {
        if (size > usual) return;
        apart = apart || begin / usual != (begin + size - 1) / usual;
        begin += size;
    }
    if (apart) topology.server_sizes = sizes;
}

}  // namespace sluice
