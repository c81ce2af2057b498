// SPDX-License-Identifier: Apache-2.0
/// Builders of the usual networks. Each takes a small struct whose defaults are a working network,
/// numbers hosts 0..H-1 and then the switches in the order its comment gives, and returns a
/// finished Topology. An impossible or absurd value is a ConfigError that says what is allowed,
/// before anything large is allocated.
#pragma once

#include <cstdint>
#include <string>
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

/// Two-tier Clos: every leaf to every spine. With several planes each host has a cable to a leaf of each, and planes meet
/// at hosts alone. Nodes: hosts by leaf, then leaves and spines, each by plane.
struct LeafSpineParams {
    std::int64_t leaves = 4;
    std::int64_t spines = 4;
    std::int64_t hosts_per_leaf = 4;
    std::int64_t cables_per_spine = 1;  ///< parallel, from each leaf to each spine
    Cable host_cable;
    Cable fabric_cable;
    std::int64_t planes = 1;  ///< alike, each with so many leaves and spines
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

/// The networks of SimAI's topology generator (gen_Topo_Template.py): servers of GPUs around
/// NVSwitches, access switches (ASW, leaf), pod switches (PSW, spine) and, beyond one pod, a core
/// layer that the generator does not have. Every GPU has a NIC with one port (single ToR) or two
/// (dual ToR: one to the ASW of set 1, one to that of set 2).
///   rail-optimized      GPU i of every server of a segment joins ASW i of that segment (in each
///                       set); a segment holds nics_per_asw servers
///   not rail-optimized  consecutive GPUs fill an ASW; a segment is one ASW (in each set)
///   single plane        every ASW of a pod joins every PSW of the pod
///   dual plane          ASWs of set 1 join the first half of the pod's PSWs, set 2 the others
///   several pods        PSW j of every pod joins cores [j c, (j + 1) c), c = cores / psws, so a
///                       plane's cores are its own
/// The last server, segment and pod may be short. GPUs, order of links and link properties are the
/// generator's, so that a network of one pod writes the generator's very file.
/// Nodes: GPUs by server, NVSwitches by server, ASWs of set 1 by segment, ASWs of set 2, PSWs by
/// pod, cores.
struct SimaiParams {
    enum class Template : std::uint8_t { free, spectrum_x, alibaba_hpn, dcn_plus };
    Template origin = Template::free;  ///< names the network, nothing else
    bool rail_optimized = false;
    bool dual_tor = false;
    bool dual_plane = false;  ///< needs the other two
    std::int64_t gpus = 32;
    std::int64_t gpus_per_server = 8;
    std::string gpu_type = "H100";
    std::int64_t nvswitches_per_server = 1;
    std::int64_t nics_per_asw = 64;
    std::int64_t psws = 64;  ///< of a pod
    /// What the generator takes a pod's capacity from: floor(asws_per_psw / ASWs of a segment)
    /// segments, counting one set only where a network is rail-optimized with dual ToR.
    std::int64_t asws_per_psw = 64;
    std::int64_t pods = 0;  ///< 0: as few as hold the GPUs; else the segments are spread over these
    /// Of all pods together, a multiple of psws; 0: as core_oversubscription needs.
    std::int64_t cores = 0;
    Oversubscription core_oversubscription;  ///< of a PSW: rates from its ASWs : rates to cores
    Cable nic{gigabits_per_second(400), 500 * kNanosecond, 0};
    Cable fabric{gigabits_per_second(400), 500 * kNanosecond, 0};  ///< ASW to PSW
    Cable core{gigabits_per_second(400), 500 * kNanosecond, 0};    ///< PSW to core
    Cable nvlink{gigabits_per_second(2880), 25 * kNanosecond, 0};
};
/// The generator's defaults for its templates. HPN's core layer is its paper's, 15:1
/// (Qian et al., SIGCOMM 2024).
SimaiParams spectrum_x_params();
SimaiParams alibaba_hpn_params(bool dual_plane);
SimaiParams dcn_plus_params(bool dual_tor);
Topology build_simai(const SimaiParams& params);

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

/// Switches of a torus in one dimension: ways are half as long, so that flows' ways and the search for them grow with
/// the square of it.
inline constexpr std::int64_t kMostTorusSide = 2048;

/// Torus of switches in 2 or 3 dimensions; the first varies fastest. A dimension of 2 has one cable
/// per pair, not two. Nodes: hosts by switch, switches.
struct TorusParams {
    std::vector<std::int64_t> dimensions = {4, 4};  ///< each from 2 to kMostTorusSide
    std::int64_t hosts_per_switch = 1;
    Cable host_cable;
    Cable fabric_cable;
};
Topology build_torus(const TorusParams& params);

/// Dragonfly (Kim 2008): groups of a routers, all joined to each other, p hosts and h global cables
/// per router. Every pair of groups has floor(a h / (groups - 1)) global cables, router r holding
/// its group's global ports [r h, (r + 1) h); ports left over stay empty. Nodes: hosts by router,
/// routers by group.
struct DragonflyParams {
    std::int64_t routers_per_group = 4;         ///< a
    std::int64_t hosts_per_router = 2;          ///< p
    std::int64_t global_cables_per_router = 2;  ///< h
    std::int64_t groups = 0;                    ///< 0: the most, a h + 1
    Cable host_cable;
    Cable local_cable;
    Cable global_cable;
    GroupRouting routing = GroupRouting::shortest;
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
