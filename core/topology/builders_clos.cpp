// SPDX-License-Identifier: Apache-2.0
/// Tiered networks: dumbbell, star, leaf-spine, fat-tree, rail-optimized, three-tier.
#include <algorithm>
#include <limits>

#include "core/topology/builder_support.h"
#include "core/topology/builders.h"
#include "core/topology/limits.h"

namespace sluice {

namespace {

constexpr std::int64_t kMostPlanes = 64;

}  // namespace

using build::Builder;
using build::capped_product;
using build::require;
using build::require_between;
using build::require_rate;

Topology build_dumbbell(const DumbbellParams& params) {
    const std::string name = "dumbbell";
    require_between(name, "left_hosts", params.left_hosts, 1, kMaxNodes);
    require_between(name, "right_hosts", params.right_hosts, 1, kMaxNodes);
    const std::int64_t hosts = params.left_hosts + params.right_hosts;
    Builder builder(name, hosts + 2, hosts + 1);
    builder.add(NodeKind::host, hosts);
    const NodeId left = builder.add(NodeKind::ethernet, 2);
    for (std::int64_t host = 0; host < hosts; ++host) {
        builder.join(host, left + (host < params.left_hosts ? 0 : 1), params.host_cable);
    }
    builder.join(left, left + 1, params.bottleneck);
    return builder.finish();
}

Topology build_star(const StarParams& params) {
    const std::string name = "star";
    require_between(name, "hosts", params.hosts, 1, kMaxNodes);
    Builder builder(name, params.hosts + 1, params.hosts);
    builder.add(NodeKind::host, params.hosts);
    const NodeId hub = builder.add(NodeKind::ethernet, 1);
    builder.attach(params.hosts, params.hosts, hub, params.host_cable);
    return builder.finish();
}

Topology build_leaf_spine(const LeafSpineParams& params) {
    const std::string name = "leaf-spine";
    require_between(name, "leaves", params.leaves, 1, kMaxNodes);
    require_between(name, "spines", params.spines, 1, kMaxNodes);
    require_between(name, "hosts_per_leaf", params.hosts_per_leaf, 1, kMaxNodes);
    require_between(name, "cables_per_spine", params.cables_per_spine, 1, kMaxLinks);
    require_between(name, "planes", params.planes, 1, kMostPlanes);
    const std::int64_t hosts = capped_product(params.leaves, params.hosts_per_leaf, kMaxNodes);
    const std::int64_t pairs = capped_product(params.leaves, params.spines, kMaxLinks);
    const std::int64_t cables = capped_product(pairs, params.cables_per_spine, kMaxLinks);
    Builder builder(name, hosts + params.planes * (params.leaves + params.spines),
                    params.planes * (hosts + cables));
    builder.add(NodeKind::host, hosts);
    const NodeId leaf = builder.add(NodeKind::ethernet, params.planes * params.leaves);
    const NodeId spine = builder.add(NodeKind::ethernet, params.planes * params.spines);
    for (std::int64_t plane = 0; plane < params.planes; ++plane) {
        const NodeId first = leaf + static_cast<NodeId>(plane * params.leaves);
        builder.attach(hosts, params.hosts_per_leaf, first, params.host_cable);
        for (std::int64_t l = 0; l < params.leaves; ++l) {
            for (std::int64_t s = 0; s < params.spines; ++s) {
                builder.join(first + l, spine + plane * params.spines + s, params.fabric_cable,
                             params.cables_per_spine);
            }
        }
    }
    return builder.finish();
}

Topology build_fat_tree(const FatTreeParams& params) {
    const std::string name = "fat-tree";
    constexpr std::int64_t kLargest = 250;  // k^3/4 hosts: just below the limit on nodes
    require(params.k >= 2 && params.k <= kLargest && params.k % 2 == 0, name,
            "k " + std::to_string(params.k) + " out of range (allowed: even numbers from 2 to " +
                std::to_string(kLargest) + ")");
    const std::int64_t half = params.k / 2;
    const std::int64_t edges = params.k * half;
    const std::int64_t hosts = edges * half;
    Builder builder(name, hosts + 2 * edges + half * half, 3 * hosts);
    builder.add(NodeKind::host, hosts);
    const NodeId edge = builder.add(NodeKind::ethernet, edges);
    const NodeId agg = builder.add(NodeKind::ethernet, edges);
    const NodeId core = builder.add(NodeKind::ethernet, half * half);
    builder.attach(hosts, half, edge, params.host_cable);
    for (std::int64_t e = 0; e < edges; ++e) {
        for (std::int64_t j = 0; j < half; ++j) {
            builder.join(edge + e, agg + e / half * half + j, params.fabric_cable);
        }
    }
    for (std::int64_t a = 0; a < edges; ++a) {
        for (std::int64_t j = 0; j < half; ++j) {
            builder.join(agg + a, core + a % half * half + j, params.fabric_cable);
        }
    }
    return builder.finish();
}

namespace {

/// Spines that carry all that `hosts` hosts of one rail switch can send.
std::int64_t full_bisection_spines(const RailParams& params, std::int64_t hosts) {
    require_rate("rail", "host cable", params.host_cable.rate);
    require_rate("rail", "fabric cable", params.fabric_cable.rate);
    __extension__ typedef unsigned __int128 Wide;  // 4e6 hosts at 1e15 b/s exceed 64 bits
    const Wide down =
        static_cast<Wide>(params.host_cable.rate.bits_per_second) * static_cast<Wide>(hosts);
    const Wide per_spine = static_cast<Wide>(params.fabric_cable.rate.bits_per_second) *
                           static_cast<Wide>(params.cables_per_spine);
    const Wide spines = (down + per_spine - 1) / per_spine;
    return spines > static_cast<Wide>(kMaxNodes) ? kMaxNodes + 1
                                                 : static_cast<std::int64_t>(spines);
}

}  // namespace

Topology build_rail(const RailParams& params) {
    const std::string name = "rail";
    require_between(name, "gpus", params.gpus, 1, kMaxNodes);
    require_between(name, "gpus_per_server", params.gpus_per_server, 1, params.gpus);
    require(params.gpus % params.gpus_per_server == 0, name,
            "gpus " + std::to_string(params.gpus) + " is not a multiple of gpus_per_server " +
                std::to_string(params.gpus_per_server));
    require_between(name, "servers_per_segment", params.servers_per_segment, 1, kMaxNodes);
    require_between(name, "spines", params.spines, 0, kMaxNodes);
    require_between(name, "cables_per_spine", params.cables_per_spine, 1, kMaxLinks);
    require_between(name, "nvswitches_per_server", params.nvswitches_per_server, 0, kMaxNodes);
    const std::int64_t servers = params.gpus / params.gpus_per_server;
    const std::int64_t segments =
        (servers + params.servers_per_segment - 1) / params.servers_per_segment;
    const std::int64_t rails = segments * params.gpus_per_server;
    const std::int64_t spines =
        params.spines > 0
            ? params.spines
            : full_bisection_spines(params, std::min(servers, params.servers_per_segment));
    const std::int64_t nvswitches =
        capped_product(servers, params.nvswitches_per_server, kMaxNodes);
    const std::int64_t trunks = capped_product(capped_product(rails, spines, kMaxLinks),
                                               params.cables_per_spine, kMaxLinks);
    const std::int64_t nvlinks =
        capped_product(params.gpus, params.nvswitches_per_server, kMaxLinks);
    Builder builder(name, params.gpus + nvswitches + rails + spines,
                    params.gpus + trunks + nvlinks);
    builder.add(NodeKind::host, params.gpus);
    const NodeId nvswitch = builder.add(NodeKind::nvswitch, nvswitches);
    const NodeId rail = builder.add(NodeKind::ethernet, rails);
    const NodeId spine = builder.add(NodeKind::ethernet, spines);
    for (std::int64_t gpu = 0; gpu < params.gpus; ++gpu) {
        const std::int64_t server = gpu / params.gpus_per_server;
        const std::int64_t segment = server / params.servers_per_segment;
        for (std::int64_t j = 0; j < params.nvswitches_per_server; ++j) {
            builder.join(gpu, nvswitch + server * params.nvswitches_per_server + j, params.nvlink);
        }
        builder.join(gpu, rail + segment * params.gpus_per_server + gpu % params.gpus_per_server,
                     params.host_cable);
    }
    for (std::int64_t r = 0; r < rails; ++r) {
        for (std::int64_t s = 0; s < spines; ++s) {
            builder.join(rail + r, spine + s, params.fabric_cable, params.cables_per_spine);
        }
    }
    Topology topology = builder.finish();
    topology.gpus_per_server = static_cast<std::uint32_t>(params.gpus_per_server);
    return topology;
}

namespace {

/// The rate of each of `uplinks` cables that share `down` (total) at the given oversubscription.
Rate uplink_rate(const std::string& tier, Rate per_downlink, std::int64_t downlinks,
                 std::int64_t uplinks, const Oversubscription& ratio) {
    const std::string name = "three-tier";
    require_between(name, tier + " oversubscription (down)", ratio.down, 1, 1'000'000);
    require_between(name, tier + " oversubscription (up)", ratio.up, 1, 1'000'000);
    __extension__ typedef unsigned __int128 Wide;
    const Wide total = static_cast<Wide>(per_downlink.bits_per_second) *
                       static_cast<Wide>(downlinks) * static_cast<Wide>(ratio.up);
    const Wide shares = static_cast<Wide>(uplinks) * static_cast<Wide>(ratio.down);
    require(total % shares == 0, name,
            tier + " uplinks would not run at a whole number of bits per second; change the " +
                "oversubscription or the number of uplinks (" + std::to_string(uplinks) + ")");
    const Wide rate = total / shares;
    const auto largest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
    const Rate each{static_cast<std::int64_t>(std::min(rate, largest))};
    require_rate(name, tier + " uplink", each);
    return each;
}

}  // namespace

Topology build_three_tier(const ThreeTierParams& params) {
    const std::string name = "three-tier";
    require_between(name, "pods", params.pods, 1, kMaxNodes);
    require_between(name, "leaves_per_pod", params.leaves_per_pod, 1, kMaxNodes);
    require_between(name, "hosts_per_leaf", params.hosts_per_leaf, 1, kMaxNodes);
    require_between(name, "aggs_per_pod", params.aggs_per_pod, 1, kMaxNodes);
    require_between(name, "cores", params.cores, 1, kMaxNodes);
    require(params.cores % params.aggs_per_pod == 0, name,
            "cores " + std::to_string(params.cores) + " is not a multiple of aggs_per_pod " +
                std::to_string(params.aggs_per_pod));
    require_rate(name, "host cable", params.host_cable.rate);
    const std::int64_t cores_per_agg = params.cores / params.aggs_per_pod;
    const std::int64_t leaves = capped_product(params.pods, params.leaves_per_pod, kMaxNodes);
    const std::int64_t aggs = capped_product(params.pods, params.aggs_per_pod, kMaxNodes);
    const std::int64_t hosts = capped_product(leaves, params.hosts_per_leaf, kMaxNodes);
    Builder builder(name, hosts + leaves + aggs + params.cores,
                    hosts + capped_product(leaves, params.aggs_per_pod, kMaxLinks) +
                        capped_product(aggs, cores_per_agg, kMaxLinks));
    const Rate leaf_rate = uplink_rate("leaf", params.host_cable.rate, params.hosts_per_leaf,
                                       params.aggs_per_pod, params.leaf);
    const Rate agg_rate =
        uplink_rate("aggregation", leaf_rate, params.leaves_per_pod, cores_per_agg, params.agg);
    const Cable leaf_cable{leaf_rate, params.fabric_delay, params.fabric_loss};
    const Cable agg_cable{agg_rate, params.fabric_delay, params.fabric_loss};
    builder.add(NodeKind::host, hosts);
    const NodeId leaf = builder.add(NodeKind::ethernet, leaves);
    const NodeId agg = builder.add(NodeKind::ethernet, aggs);
    const NodeId core = builder.add(NodeKind::ethernet, params.cores);
    builder.attach(hosts, params.hosts_per_leaf, leaf, params.host_cable);
    for (std::int64_t l = 0; l < leaves; ++l) {
        const std::int64_t pod = l / params.leaves_per_pod;
        for (std::int64_t j = 0; j < params.aggs_per_pod; ++j) {
            builder.join(leaf + l, agg + pod * params.aggs_per_pod + j, leaf_cable);
        }
    }
    for (std::int64_t a = 0; a < aggs; ++a) {
        for (std::int64_t j = 0; j < cores_per_agg; ++j) {
            builder.join(agg + a, core + a % params.aggs_per_pod * cores_per_agg + j, agg_cable);
        }
    }
    return builder.finish();
}

}  // namespace sluice
