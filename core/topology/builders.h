// SPDX-License-Identifier: Apache-2.0
/// Builders of the usual networks. Each takes a small struct whose defaults are a working network,
/// numbers hosts 0..H-1 and then the switches in the order its comment gives, and returns a
/// finished Topology. An impossible or absurd value is a ConfigError that says what is allowed,
/// before anything large is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice {

/// The properties of a cable.
struct Cable {
    Rate rate = gigabits_per_second(100);
    Tick delay = kMicrosecond;
    double loss = 0;  ///< per received packet
};

/// Capacity down : capacity up of a tier; {1, 1} is full bisection, {3, 1} is oversubscribed 3:1.
struct Oversubscription {
    std::int64_t down = 1;
    std::int64_t up = 1;
};

/// Two switches joined by one cable. Nodes: left hosts, right hosts, left switch, right switch.
struct DumbbellParams {
    std::int64_t left_hosts = 2;
    std::int64_t right_hosts = 2;
    Cable host_cable;
    Cable bottleneck;
};
Topology build_dumbbell(const DumbbellParams& params);

/// Hosts around one switch.
struct StarParams {
    std::int64_t hosts = 16;
    Cable host_cable;
};
Topology build_star(const StarParams& params);

/// Two-tier Clos: every leaf to every spine. Nodes: hosts by leaf, leaves, spines.
struct LeafSpineParams {
    std::int64_t leaves = 4;
    std::int64_t spines = 4;
    std::int64_t hosts_per_leaf = 4;
    std::int64_t cables_per_spine = 1;  ///< parallel, from each leaf to each spine
    Cable host_cable;
    Cable fabric_cable;
};
Topology build_leaf_spine(const LeafSpineParams& params);

/// k-ary fat-tree (Al-Fares 2008): k pods of k/2 edge and k/2 aggregation switches, k^2/4 core
/// switches, k^3/4 hosts. Aggregation switch j of every pod joins cores [j k/2, (j + 1) k/2).
/// Nodes: hosts, edge switches, aggregation switches, core switches, each by pod.
struct FatTreeParams {
    std::int64_t k = 4;  ///< ports per switch, even
    Cable host_cable;
    Cable fabric_cable;
};
Topology build_fat_tree(const FatTreeParams& params);

/// Rail-optimized fat-tree: each GPU is a host with its own NIC; GPU i of every server of a segment
/// joins rail switch i of that segment; every rail switch joins every spine. Full bisection unless
/// `spines` says otherwise. Host id = server x gpus_per_server + i.
/// Nodes: hosts, NVSwitches by server (if any), rail switches by segment, spines.
struct RailParams {
    std::int64_t gpus = 128;
    std::int64_t gpus_per_server = 8;
    std::int64_t servers_per_segment =
        16;  ///< hosts per rail switch; the last segment may be short
    /// 0: as many as full bisection needs, hosts' rate x servers_per_segment over a spine's cables.
    std::int64_t spines = 0;
    std::int64_t cables_per_spine = 1;  ///< parallel, from each rail switch to each spine
    /// 0: none, traffic inside a server is not part of the network.
    std::int64_t nvswitches_per_server = 0;
    Cable host_cable;
    Cable fabric_cable;
    Cable nvlink{gigabits_per_second(2880), 25 * kNanosecond, 0};
};
Topology build_rail(const RailParams& params);

/// Three-tier Clos. In a pod every leaf joins every aggregation switch; aggregation switch j of
/// every pod joins cores [j c, (j + 1) c), c = cores / aggs_per_pod. The rate of fabric cables
/// follows from the hosts' rate and the tiers' oversubscription. The defaults are HPCC's 320-host
/// network. Nodes: hosts by leaf, leaves by pod, aggregation switches by pod, cores.
struct ThreeTierParams {
    std::int64_t pods = 5;
    std::int64_t leaves_per_pod = 4;
    std::int64_t hosts_per_leaf = 16;
    std::int64_t aggs_per_pod = 4;
    std::int64_t cores = 16;  ///< a multiple of aggs_per_pod
    Oversubscription leaf;    ///< of a leaf: hosts' rates : uplinks' rates
    Oversubscription agg;     ///< of an aggregation switch
    Cable host_cable;
    Tick fabric_delay = kMicrosecond;
    double fabric_loss = 0;
};
Topology build_three_tier(const ThreeTierParams& params);

/// Every switch joined to every other. Nodes: hosts by switch, switches.
struct FullMeshParams {
    std::int64_t switches = 4;
    std::int64_t hosts_per_switch = 4;
    Cable host_cable;
    Cable fabric_cable;
};
Topology build_full_mesh(const FullMeshParams& params);

/// Torus of switches in 2 or 3 dimensions; the first varies fastest. A dimension of 2 has one cable
/// per pair, not two. Nodes: hosts by switch, switches.
struct TorusParams {
    std::vector<std::int64_t> dimensions = {4, 4};  ///< each at least 2
    std::int64_t hosts_per_switch = 1;
    Cable host_cable;
    Cable fabric_cable;
};
Topology build_torus(const TorusParams& params);

/// Dragonfly (Kim 2008): groups of a routers, all joined to each other, p hosts and h global cables
/// per router. Every pair of groups has floor(a h / (groups - 1)) global cables, router r holding
/// its group's global ports [r h, (r + 1) h); ports left over stay empty. Shortest-path routing
/// only. Nodes: hosts by router, routers by group.
struct DragonflyParams {
    std::int64_t routers_per_group = 4;         ///< a
    std::int64_t hosts_per_router = 2;          ///< p
    std::int64_t global_cables_per_router = 2;  ///< h
    std::int64_t groups = 0;                    ///< 0: the most, a h + 1
    Cable host_cable;
    Cable local_cable;
    Cable global_cable;
};
Topology build_dragonfly(const DragonflyParams& params);

/// BCube(n, k) (Guo 2009): n^(k+1) servers, k + 1 levels of n^k switches with n ports; the level-l
/// switch of a server is shared with the n - 1 servers that differ from it in digit l only.
/// BCube servers forward. Hosts are never transit here, so a server is a host and a switch of its
/// own that does the forwarding, joined by `server_cable`; that hop adds its delay at both ends of
/// a path. Nodes: hosts, servers' switches, level switches by level.
struct BCubeParams {
    std::int64_t n = 4;
    std::int64_t k = 1;
    Cable cable;
    /// Rate 0: that of the server's k + 1 cables together.
    Cable server_cable{Rate{0}, kMicrosecond, 0};
};
Topology build_bcube(const BCubeParams& params);

}  // namespace sluice
