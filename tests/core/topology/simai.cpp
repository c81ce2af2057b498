// SPDX-License-Identifier: Apache-2.0
/// SimAI's networks: its generator's files token by token, its defaults, several pods, and that
/// routing over NVSwitches is SimAI's.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "core/routing/routing.h"
#include "core/topology/builders.h"
#include "core/topology/connectivity.h"
#include "core/topology/limits.h"
#include "core/topology/topology_io.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::vector<std::string> tokens(TokenReader reader) {
    std::vector<std::string> all;
    while (!reader.at_end()) all.emplace_back(reader.next("token"));
    return all;
}

std::string first_line(const Topology& topology) {
    const std::string text = format_topology(topology);
    return text.substr(0, text.find('\n'));
}

std::set<NodeId> neighbors(const Topology& topology, NodeId node) {
    std::set<NodeId> found;
    for (std::uint32_t i = 0; i < topology.port_count(node); ++i) {
        found.insert(topology.neighbor(topology.first_port(node) + i));
    }
    return found;
}

/// Every node that a packet from `src` to `dst` may pass, ends left out.
std::set<NodeId> on_the_way(const Topology& topology, const Routing& routing, NodeId src,
                            NodeId dst) {
    std::set<NodeId> seen;
    std::vector<NodeId> open = {src};
    while (!open.empty()) {
        const NodeId node = open.back();
        open.pop_back();
        for (const PortId port : routing.next_hops(node, dst)) {
            const NodeId next = topology.neighbor(port);
            if (next != dst && seen.insert(next).second) open.push_back(next);
        }
    }
    return seen;
}

/// As SimAI routes: inside a server over its NVSwitches alone, between servers over none.
void check_nvswitch_routing(const Topology& topology) {
    const Routing routing(topology);
    for (const NodeId src : topology.hosts()) {
        for (const NodeId dst : topology.hosts()) {
            if (src == dst) continue;
            const bool inside = src / topology.gpus_per_server == dst / topology.gpus_per_server;
            const std::set<NodeId> nodes = on_the_way(topology, routing, src, dst);
            CHECK(!nodes.empty());
            for (const NodeId node : nodes) {
                const bool nvswitch = topology.kind(node) == NodeKind::nvswitch;
                CHECK(nvswitch == inside);
                if (nvswitch) CHECK(neighbors(topology, node).count(src) == 1);
            }
        }
    }
}

}  // namespace

TEST_CASE("unit.simai.generator_files_are_reproduced") {
    SimaiParams small = spectrum_x_params();
    small.gpus = 8;
    small.psws = 1;
    SimaiParams medium = spectrum_x_params();
    medium.gpus = 64;
    medium.psws = 4;
    SimaiParams hpn = alibaba_hpn_params(false);
    hpn.gpus = 32;
    hpn.psws = 8;
    for (const SimaiParams& params : {small, medium, hpn}) {
        const Topology built = build_simai(params);
        CAPTURE(built.name);
        // The builder names a network as the generator names its file.
        const std::string file = reference_file("samples/simai/topo/" + built.name);
        if (file.empty()) {
            MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
            return;
        }
        CHECK(tokens(TokenReader("built", format_topology(built))) ==
              tokens(TokenReader::open(file)));
    }
}

TEST_CASE("unit.simai.defaults_are_the_generators") {
    // Nodes: GPUs + GPUs / 8 NVSwitches + ASWs + PSWs. Links: an NVLink and one or two NIC links
    // per GPU, and ASWs x PSWs (half of that in two planes).
    // 4096 / (64 x 8) = 8 segments x 8 ASWs, 64 PSWs: 2 x 4096 + 64 x 64 links.
    CHECK(first_line(build_simai(spectrum_x_params())) == "4736 8 512 128 12288 H100");
    // 15360 / (128 x 8) = 15 segments x 16 ASWs, 120 PSWs: 3 x 15360 + 240 x 120 links.
    CHECK(first_line(build_simai(alibaba_hpn_params(false))) == "17640 8 1920 360 74880 H100");
    CHECK(first_line(build_simai(alibaba_hpn_params(true))) == "17640 8 1920 360 60480 H100");
    // 512 / 64 = 8 ASWs; 512 / 128 x 2 = 8 ASWs; 8 PSWs.
    CHECK(first_line(build_simai(dcn_plus_params(false))) == "592 8 64 16 1088 H100");
    CHECK(first_line(build_simai(dcn_plus_params(true))) == "592 8 64 16 1600 H100");
    // The free form: 32 GPUs on one ASW, 64 PSWs.
    CHECK(first_line(build_simai({})) == "101 8 4 65 128 H100");
    CHECK(build_simai({}).name == "No_Rail_Opti_32g_8gps_SingleToR_400Gbps_H100");
    SimaiParams p;
    p.rail_optimized = true;
    CHECK(build_simai(p).name == "Rail_Opti_SingleToR_32g_8gps_400Gbps_H100");
    p.dual_tor = true;
    CHECK(build_simai(p).name == "Rail_Opti_32g_8gps_DualToR_SinglePlane_400Gbps_H100");
    p.dual_plane = true;
    CHECK(build_simai(p).name == "Rail_Opti_32g_8gps_DualToR_DualPlane_400Gbps_H100");
}

TEST_CASE("unit.simai.rails_sets_and_planes") {
    SimaiParams p = alibaba_hpn_params(true);
    p.gpus = 32;
    p.gpus_per_server = 4;
    p.nics_per_asw = 4;  // 16 GPUs a segment: two segments of 2 x 4 ASWs
    p.psws = 5;          // three of plane 1, two of plane 2
    const Topology t = build_simai(p);
    const NodeId asw = 32 + 8;
    const NodeId psw = asw + 16;
    CHECK(t.node_count() == psw + 5);
    // GPU 22 is GPU 2 of server 5, of segment 1: rail 2 of that segment in each set.
    CHECK(neighbors(t, 22) == std::set<NodeId>{32 + 5, asw + 6, asw + 8 + 6});
    CHECK(neighbors(t, asw + 6) == std::set<NodeId>{18, 22, 26, 30, psw, psw + 1, psw + 2});
    CHECK(neighbors(t, asw + 8 + 6) == std::set<NodeId>{18, 22, 26, 30, psw + 3, psw + 4});
    CHECK(t.links().size() == 32 * 3 + 8 * 5);
    CHECK(!find_unreachable_hosts(t));
}

TEST_CASE("unit.simai.consecutive_gpus_fill_an_asw_without_rails") {
    SimaiParams p = dcn_plus_params(true);
    p.gpus = 20;
    p.nics_per_asw = 8;  // segments of 8, 8 and 4 GPUs, two ASWs each
    const Topology t = build_simai(p);
    const NodeId asw = 20 + 3;
    CHECK(neighbors(t, asw + 1) == [&] {
        std::set<NodeId> expected;
        for (NodeId i = 0; i < 8; ++i) expected.insert(8 + i);
        for (NodeId i = 0; i < 8; ++i) expected.insert(asw + 6 + i);
        return expected;
    }());
    CHECK(neighbors(t, 19) == std::set<NodeId>{20 + 2, asw + 2, asw + 5});
    CHECK(!find_unreachable_hosts(t));
}

TEST_CASE("unit.simai.pods_are_joined_by_cores") {
    SimaiParams p = spectrum_x_params();
    p.gpus = 40;
    p.gpus_per_server = 2;
    p.nics_per_asw = 4;  // 8 GPUs a segment: five segments of two ASWs
    p.psws = 2;
    p.asws_per_psw = 4;  // two segments a pod: three pods, the last with one segment
    const Topology t = build_simai(p);
    const NodeId asw = 40 + 20;
    const NodeId psw = asw + 10;
    const NodeId core = psw + 6;
    // A PSW gets 4 x 400 Gb/s from its ASWs, so without oversubscription it has four cores.
    CHECK(t.node_count() == core + 8);
    // 2 x 40 + 10 x 2 + 6 x 4.
    CHECK(t.links().size() == 124);
    // PSW 1 of pod 1: its pod's ASWs, and the second PSWs' cores.
    CHECK(neighbors(t, psw + 3) == std::set<NodeId>{asw + 4, asw + 5, asw + 6, asw + 7, core + 4,
                                                    core + 5, core + 6, core + 7});
    CHECK(neighbors(t, psw + 5).size() == 2 + 4);
    CHECK(neighbors(t, core + 4) == std::set<NodeId>{psw + 1, psw + 3, psw + 5});
    CHECK(!find_unreachable_hosts(t));
    // A GPU of pod 0 to one of pod 2: ASW, PSW, core, PSW, ASW.
    CHECK(Routing(t).distance(0, 38) == 6);

    p.core_oversubscription = {2, 1};
    CHECK(build_simai(p).node_count() == core + 4);
    p.core.rate = gigabits_per_second(800);
    CHECK(build_simai(p).node_count() == core + 2);
    p.cores = 6;
    CHECK(build_simai(p).node_count() == core + 6);
    // All in one pod where it says so and holds them; as many pods as it says, evenly.
    p.asws_per_psw = 10;
    p.cores = 0;
    p.pods = 1;
    CHECK(build_simai(p).node_count() == asw + 10 + 2);
    p.pods = 5;
    const Topology five = build_simai(p);
    CHECK(neighbors(five, psw).size() ==
          2 + 1);  // 2 x 400G over 800G cables at 2:1: one half, so 1
    CHECK(!find_unreachable_hosts(five));
}

TEST_CASE("unit.simai.hpn_of_several_pods_is_15_to_1") {
    SimaiParams p = alibaba_hpn_params(true);
    p.gpus = 2 * 15'360;
    const Topology t = build_simai(p);
    // 120 ASWs of 400 Gb/s to a PSW, 120 / 15 = 8 cables up. Planes stay apart in the core, too.
    const NodeId asw = 30'720 + 3'840;
    const NodeId psw = asw + 2 * 240;
    const NodeId core = psw + 2 * 120;
    CHECK(t.node_count() == core + 120 * 8);
    CHECK(t.port_count(psw) == 120 + 8);
    CHECK(neighbors(t, core + 59 * 8) == std::set<NodeId>{psw + 59, psw + 120 + 59});
}

TEST_CASE("unit.simai.odd_counts") {
    SimaiParams p;
    p.gpus = 13;  // servers of 5, 5 and 3
    p.gpus_per_server = 5;
    p.nvswitches_per_server = 2;
    p.rail_optimized = true;
    p.psws = 3;
    const Topology odd = build_simai(p);
    CHECK(first_line(odd) == "27 5 6 8 54 H100");  // 13 x (2 + 1) + 5 x 3 links
    CHECK(!find_unreachable_hosts(odd));
    check_nvswitch_routing(odd);
    p.nvswitches_per_server = 0;
    p.gpus_per_server = 1;
    const Topology plain = build_simai(p);  // one rail
    CHECK(first_line(plain) == "17 1 0 4 16 H100");
    TokenReader again("again", format_topology(plain));
    CHECK(format_topology(read_topology(again)) == format_topology(plain));
    p.psws = 0;
    CHECK(!find_unreachable_hosts(build_simai(p)));
}

TEST_CASE("unit.simai.refusals") {
    const auto error = [](SimaiParams base, const auto& change) {
        change(base);
        return error_of([&] { build_simai(base); });
    };
    CHECK(error({}, [](SimaiParams& p) { p.dual_plane = true; }) ==
          "simai: dual_plane needs rail_optimized and dual_tor");
    CHECK(error(alibaba_hpn_params(true), [](SimaiParams& p) { p.psws = 1; }) ==
          "alibaba-hpn: dual_plane needs two psws at least");
    CHECK(error({}, [](SimaiParams& p) { p.gpus = 4; }) ==
          "simai: gpus_per_server 8 out of range (allowed: 1 to 4)");
    CHECK(error(spectrum_x_params(), [](SimaiParams& p) { p.asws_per_psw = 7; }) ==
          "spectrum-x: asws_per_psw 7 does not hold one segment of 8 ASWs");
    CHECK(error(spectrum_x_params(), [](SimaiParams& p) { p.gpus = 8192, p.pods = 1; }) ==
          "spectrum-x: 8192 GPUs exceed 1 pods of 8 segments (pods 0 takes as many as needed)");
    CHECK(error(spectrum_x_params(), [](SimaiParams& p) { p.pods = 5; }) ==
          "spectrum-x: 8 segments do not fill 5 pods; lower nics_per_asw or pods");
    CHECK(error({}, [](SimaiParams& p) { p.cores = 64; }) ==
          "simai: cores join several pods; there is one");
    CHECK(error(spectrum_x_params(), [](SimaiParams& p) { p.pods = 2, p.cores = 65; }) ==
          "spectrum-x: cores 65 is not a multiple of psws 64");
    CHECK(error(spectrum_x_params(), [](SimaiParams& p) { p.pods = 2, p.psws = 0; }) ==
          "spectrum-x: several pods need psws to join them");
    CHECK(error({}, [](SimaiParams& p) { p.gpu_type = "H 100"; }) ==
          "simai: gpu_type \"H 100\" is not one word such as H100");
    CHECK(error({}, [](SimaiParams& p) { p.nvswitches_per_server = kMaxNodes; }) ==
          "simai: too large (allowed: at most 4000000 nodes)");
    CHECK(error({}, [](SimaiParams& p) { p.gpus = 4'000'000; }) ==
          "simai: too large (allowed: at most 4000000 nodes)");
}

TEST_CASE("unit.simai.routing_prefers_nvlink_inside_a_server_and_nowhere_else") {
    SimaiParams p = dcn_plus_params(false);
    p.gpus = 24;
    p.nics_per_asw = 12;  // server 1 is on two ASWs
    p.nvswitches_per_server = 3;
    check_nvswitch_routing(build_simai(p));
    p = spectrum_x_params();
    p.gpus = 16;
    p.gpus_per_server = 4;
    p.nics_per_asw = 2;
    p.asws_per_psw = 4;  // two pods
    check_nvswitch_routing(build_simai(p));
    for (const char* name :
         {"AlibabaHPN_32g_8gps_DualToR_SinglePlane_200Gbps_H100",
          "Spectrum-X_64g_8gps_400Gbps_H100", "Spectrum-X_8g_8gps_400Gbps_H100"}) {
        const std::string file = reference_file(std::string("samples/simai/topo/") + name);
        if (file.empty()) {
            MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
            return;
        }
        check_nvswitch_routing(read_topology(file));
    }
}
