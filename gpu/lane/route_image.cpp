// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/route_image.h"

#include <algorithm>
#include <map>

namespace sluice::gpu {

std::uint32_t RouteImage::list_of(const std::vector<PortId>& list) {
    const auto place = static_cast<std::uint32_t>(ports.size());
    ports.push_back(static_cast<PortId>(list.size()));
    ports.insert(ports.end(), list.begin(), list.end());
    return place;
}

std::size_t RouteImage::bytes() const {
    const std::size_t words = column.size() + row.size() + next.size() + far.size() + ports.size();
    return words * sizeof(std::uint32_t) + way.size() * sizeof(way[0]) + 6 * std::size_t{64};
}

RouteImage::RouteImage(const Topology& topology, const Routing& routing,
                       const std::vector<FlowSpec>& flows)
    : column(topology.node_count(), kNone),
      row(topology.node_count(), kNone),
      far(topology.node_count(), kNone),
      way(flows.size()) {
    std::vector<NodeId> switches;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (!topology.is_host(node)) {
            column[node] = columns++;
            switches.push_back(node);
        }
    }
    std::map<std::uint32_t, std::uint32_t> rows;   // by group
    std::map<const PortId*, std::uint32_t> lists;  // by where Routing keeps them
    const auto add_destination = [&](NodeId host) {
        if (row[host] != kNone) {
            return;
        }
        std::vector<PortId> ends;
        for (PortId port = topology.first_port(host); port < topology.first_port(host + 1);
             ++port) {
            if (routing.link_up(topology.link_of(port))) {
                ends.push_back(topology.peer_of(port));
            }
        }
        std::sort(ends.begin(), ends.end());
        far[host] = list_of(ends);
        const auto [found, first] =
            rows.try_emplace(routing.group(host), static_cast<std::uint32_t>(rows.size()));
        row[host] = found->second;
        if (!first) {
            return;
        }
        for (const NodeId node : switches) {
            // Where it is out of reach for this host of the group, another may hang on the same NVSwitch.
            if (routing.distance(node, host) <= 1) {
                next.push_back(step::RouteTable::kNear);
                continue;
            }
            const Routing::PortRange hops = routing.next_hops(node, host);
            const auto [list, added] = lists.try_emplace(hops.begin(), 0);
            if (added) {
                list->second = list_of({hops.begin(), hops.end()});
            }
            next.push_back(list->second);
        }
    };
    for (FlowSlot slot = 0; slot < flows.size(); ++slot) {
        const FlowSpec& spec = flows[slot];
        add_destination(spec.src);
        add_destination(spec.dst);
        way[slot] = {routing.select(spec.src, data_key(spec)),
                     routing.select(spec.dst, ack_key(spec))};
    }
}

}  // namespace sluice::gpu
