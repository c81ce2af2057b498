// SPDX-License-Identifier: Apache-2.0
/// Foreign models that do whatever they like (fuzzer.h): no crash, every error is one that can be caught, and the network stops
/// when it is to stop. By hand: a million packets per case with SLUICE_FUZZ_PACKETS=1000000, others with SLUICE_FUZZ_SEED=2.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "core/topology/builders.h"
#include "tests/models/fuzzer.h"
#include "tests/models/page_star.h"

namespace sluice::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
    const char* const given = std::getenv(name);
    return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

constexpr NodeId kLeaf = 4;
constexpr NodeId kSpine = 6;

/// Two hosts under either of two leaves (nodes 4 and 5), one spine.
struct Fabric {
    explicit Fabric(congestion::Law law) : topology(build()), routing(topology) {
        config.congestion = congestion::default_parameters(law, 100'000'000'000);
        const congestion::Traits traits = congestion::traits(law);
        config.format.extra_header = traits.uses_int ? config.format.extra_header : 0;
        config.format.ack = traits.uses_int ? config.format.ack : 60;
        config.nic.retransmit_timeout = 200 * kMicrosecond;
    }
    static Topology build() {
        LeafSpineParams params;
        params.leaves = 2;
        params.spines = 1;
        params.hosts_per_leaf = 2;
        return build_leaf_spine(params);
    }
    /// Between hosts that are not `foreign`.
    void add_flows(NodeId foreign) {
        for (NodeId src = 0; src < 4; ++src) {
            for (NodeId dst = 0; dst < 4; ++dst) {
                if (src == dst || src == foreign || dst == foreign) {
                    continue;
                }
                FlowSpec flow;
                flow.src = src;
                flow.dst = dst;
                flow.size = 200'000;
                flow.start = (src * 4 + dst) * 3 * kMicrosecond;
                flows.push_back(flow);
            }
        }
        assign_source_ports(flows);
    }

    Topology topology;
    Routing routing;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;
};

void fuzz(Fabric& fabric, NodeId foreign, std::uint64_t salt) {
    throw_reports();
    fabric.add_flows(foreign);
    const std::uint64_t packets = from_environment("SLUICE_FUZZ_PACKETS", 20'000);
    const Tick every = 50 * kNanosecond;
    const Tick stop = static_cast<Tick>(packets) * every / 2;
    NetworkOptions options;
    options.foreign = {foreign};
    options.stop = stop;
    Network network("network", fabric.topology, fabric.routing, fabric.config, fabric.flows,
                    fabric.paths, nullptr, options);
    Fuzzer fuzzer("fuzzer", network, foreign, packets, every,
                  from_environment("SLUICE_FUZZ_SEED", 1) * 1000 + salt);
    sc_core::sc_start();
    CHECK(fuzzer.taken > packets / 10);
    CHECK(fuzzer.refused > packets / 10);
    // It goes on sending for as long again after the stop, and nothing of it is executed.
    CHECK(network.clock().finished());
    CHECK(network.clock().now() <= stop);
    CHECK(sc_core::sc_time_stamp() > to_sc_time(stop));
    MESSAGE(fuzzer.taken, " calls taken, ", fuzzer.refused, " refused, ", fuzzer.heard,
            " packets heard, ", network.counters().packet_hops, " packet-hops");
}

}  // namespace

TEST_CASE("models.foreign_fuzz.a_leaf_under_hpcc") {
    Fabric fabric(congestion::Law::hpcc);
    fuzz(fabric, kLeaf, 1);
}

TEST_CASE("models.foreign_fuzz.a_spine_under_timely") {
    Fabric fabric(congestion::Law::timely);
    fuzz(fabric, kSpine, 2);
}

TEST_CASE("models.foreign_fuzz.a_host_under_dcqcn") {
    Fabric fabric(congestion::Law::dcqcn);
    fuzz(fabric, 0, 3);
}

TEST_CASE("models.foreign_fuzz.a_leaf_that_drops_under_dctcp") {
    Fabric fabric(congestion::Law::dctcp);
    fabric.config.pfc = false;
    fabric.config.buffer.size = Bytes{40'000};
    fuzz(fabric, kLeaf, 4);
}

TEST_CASE("models.foreign_fuzz.a_leaf_under_selective_repeat") {
    Fabric fabric(congestion::Law::swift);
    fabric.config.nic.transport = Transport::selective_repeat;
    fuzz(fabric, kLeaf, 5);
}

TEST_CASE("models.foreign_fuzz.a_spine_among_those_that_trim") {
    Fabric fabric(congestion::Law::nscc);
    fabric.config.nic.transport = Transport::selective_repeat;
    fabric.config.pfc = false;
    fabric.config.trim.threshold = 20'000;
    fuzz(fabric, kSpine, 6);
}

}  // namespace sluice::test
