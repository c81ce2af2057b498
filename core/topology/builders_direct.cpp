// SPDX-License-Identifier: Apache-2.0
/// Direct networks: full mesh, torus, dragonfly, BCube.
#include "core/topology/builder_support.h"
#include "core/topology/builders.h"
#include "core/topology/limits.h"

namespace sluice {

using build::Builder;
using build::capped_product;
using build::require;
using build::require_between;

Topology build_full_mesh(const FullMeshParams& params) {
    const std::string name = "full-mesh";
    require_between(name, "switches", params.switches, 1, kMaxNodes);
    require_between(name, "hosts_per_switch", params.hosts_per_switch, 1, kMaxNodes);
    const std::int64_t hosts = capped_product(params.switches, params.hosts_per_switch, kMaxNodes);
    const std::int64_t pairs = params.switches * (params.switches - 1) / 2;
    Builder builder(name, hosts + params.switches, hosts + pairs);
    builder.add(NodeKind::host, hosts);
    const NodeId first = builder.add(NodeKind::ethernet, params.switches);
    builder.attach(hosts, params.hosts_per_switch, first, params.host_cable);
    for (std::int64_t a = 0; a < params.switches; ++a) {
        for (std::int64_t b = a + 1; b < params.switches; ++b) {
            builder.join(first + a, first + b, params.fabric_cable);
        }
    }
    return builder.finish();
}

Topology build_torus(const TorusParams& params) {
    const std::string name = "torus";
    require(params.dimensions.size() == 2 || params.dimensions.size() == 3, name,
            std::to_string(params.dimensions.size()) + " dimensions (allowed: 2 or 3)");
    require_between(name, "hosts_per_switch", params.hosts_per_switch, 1, kMaxNodes);
    std::int64_t switches = 1;
    for (const std::int64_t size : params.dimensions) {
        require_between(name, "dimension", size, 2, kMostTorusSide);
        switches = capped_product(switches, size, kMaxNodes);
    }
    const std::int64_t hosts = capped_product(switches, params.hosts_per_switch, kMaxNodes);
    Builder builder(name, hosts + switches,
                    hosts + switches * static_cast<std::int64_t>(params.dimensions.size()));
    builder.add(NodeKind::host, hosts);
    const NodeId first = builder.add(NodeKind::ethernet, switches);
    builder.attach(hosts, params.hosts_per_switch, first, params.host_cable);
    std::int64_t stride = 1;
    for (const std::int64_t size : params.dimensions) {
        for (std::int64_t node = 0; node < switches; ++node) {
            const std::int64_t at = node / stride % size;
            if (at + 1 < size) {
                builder.join(first + node, first + node + stride, params.fabric_cable);
            } else if (size > 2) {
                builder.join(first + node, first + node - at * stride, params.fabric_cable);
            }
        }
        stride *= size;
    }
    return builder.finish();
}

Topology build_dragonfly(const DragonflyParams& params) {
    const std::string name = "dragonfly";
    const std::int64_t a = params.routers_per_group;
    const std::int64_t h = params.global_cables_per_router;
    require_between(name, "routers_per_group", a, 1, kMaxNodes);
    require_between(name, "hosts_per_router", params.hosts_per_router, 1, kMaxNodes);
    require_between(name, "global_cables_per_router", h, 0, kMaxNodes);
    const std::int64_t global_ports = capped_product(a, h, kMaxLinks);
    require_between(name, "groups", params.groups, 0, global_ports + 1);
    const std::int64_t groups = params.groups > 0 ? params.groups : global_ports + 1;
    const std::int64_t per_pair = groups > 1 ? global_ports / (groups - 1) : 0;
    const std::int64_t routers = capped_product(groups, a, kMaxNodes);
    const std::int64_t hosts = capped_product(routers, params.hosts_per_router, kMaxNodes);
    Builder builder(name, hosts + routers,
                    hosts + capped_product(routers, a - 1, 2 * kMaxLinks) / 2 +
                        capped_product(capped_product(groups, groups - 1, 2 * kMaxLinks), per_pair,
                                       2 * kMaxLinks) /
                            2);
    builder.add(NodeKind::host, hosts);
    const NodeId first = builder.add(NodeKind::ethernet, routers);
    builder.attach(hosts, params.hosts_per_router, first, params.host_cable);
    for (std::int64_t group = 0; group < groups; ++group) {
        for (std::int64_t i = 0; i < a; ++i) {
            for (std::int64_t j = i + 1; j < a; ++j) {
                builder.join(first + group * a + i, first + group * a + j, params.local_cable);
            }
        }
    }
    // A group's global ports go to the other groups in order, and round again while ports last.
    const auto router_to = [&](std::int64_t group, std::int64_t other, std::int64_t round) {
        const std::int64_t port = round * (groups - 1) + (other < group ? other : other - 1);
        return first + group * a + port / h;
    };
    for (std::int64_t group = 0; group < groups; ++group) {
        for (std::int64_t other = group + 1; other < groups; ++other) {
            for (std::int64_t round = 0; round < per_pair; ++round) {
                builder.join(router_to(group, other, round), router_to(other, group, round),
                             params.global_cable);
            }
        }
    }
    Topology topology = builder.finish();
    topology.group_routing = params.routing;
    topology.switch_group.assign(topology.node_count(), kNone);
    for (std::int64_t router = 0; router < routers; ++router) {
        topology.switch_group[first + router] = static_cast<std::uint32_t>(router / a);
    }
    return topology;
}

Topology build_bcube(const BCubeParams& params) {
    const std::string name = "bcube";
    require_between(name, "n", params.n, 2, kMaxNodes);
    require_between(name, "k", params.k, 0, 20);
    const std::int64_t levels = params.k + 1;
    std::int64_t servers = 1;
    for (std::int64_t level = 0; level < levels; ++level) {
        servers = capped_product(servers, params.n, kMaxNodes);
    }
    const std::int64_t per_level = servers / params.n;
    Builder builder(name, 2 * servers + levels * per_level, servers + servers * levels);
    builder.add(NodeKind::host, servers);
    const NodeId element = builder.add(NodeKind::ethernet, servers);
    const NodeId level_switch = builder.add(NodeKind::ethernet, levels * per_level);
    Cable server_cable = params.server_cable;
    if (server_cable.rate == Rate{0}) {
        server_cable.rate = {capped_product(params.cable.rate.bits_per_second, levels,
                                            kMaxLinkRate.bits_per_second)};
    }
    builder.attach(servers, 1, element, server_cable);
    std::int64_t stride = 1;  // n^level: the weight of the level's digit in a server's number
    for (std::int64_t level = 0; level < levels; ++level) {
        for (std::int64_t server = 0; server < servers; ++server) {
            // The switch's number within its level is the server's without that digit.
            const std::int64_t index = server / (stride * params.n) * stride + server % stride;
            builder.join(element + server, level_switch + level * per_level + index, params.cable);
        }
        stride *= params.n;
    }
    return builder.finish();
}

}  // namespace sluice
