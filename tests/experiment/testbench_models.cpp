// SPDX-License-Identifier: Apache-2.0
/// Models of one's own in an experiment with phases: what passes by them is executed, or, if they are steady, skipped; the
/// rest of the network skips in any case.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "experiment/build_experiment.h"
#include "experiment/testbench/experiment_network.h"
#include "models/foreign/foreign_models.h"
#include "models/host_port/host_port.h"
#include "models/sim_time.h"
#include "scenario/scenario.h"
#include "tests/models/fuzzer.h"

namespace sluice::test {
namespace {

using foreign::FifoSwitch;

constexpr NodeId kFirstLeaf = 4;

BuiltExperiment built(const std::string& text, Mode mode) {
    Scenario scenario =
        parse_scenario(std::string("mode = \"") + mode_name(mode) + "\"\n" + text, "test.toml");
    return build_experiment(scenario);
}

/// Two hosts under either leaf. Nothing marks, pauses or drops, as a FifoSwitch does not.
std::string leaves(const std::string& law, const std::string& list, int spines = 1,
                   const std::string& phases = "audit = 0") {
    return "[topology]\ntype = \"leaf-spine\"\nleaves = 2\nhosts_per_leaf = 2\nspines = " +
           std::to_string(spines) +
           "\n[network]\npfc = false\necn.enabled = false\nbuffer.egress_alpha = 0\n"
           "[congestion]\nlaw = \"" +
           law + "\"\n[workload]\ntype = \"flows\"\nlist = [" + list + "]\n[phases]\n" + phases +
           "\n";
}

/// A leaf of one's own. What goes up leaves by its last port, whatever the network's tables say.
class Leaf : public FifoSwitch {
  public:
    using FifoSwitch::FifoSwitch;

  protected:
    std::uint32_t port_for(const step::Packet& packet, NodeId end) const override {
        return end < 2 ? FifoSwitch::port_for(packet, end) : last_port();
    }
};

/// An experiment whose first leaf is a model of one's own.
struct Bench {
    Bench(const std::string& name, const std::string& text, Mode mode)
        : experiment(built(text, mode)) {
        NetworkOptions options;
        options.foreign.push_back(kFirstLeaf);
        network =
            std::make_unique<ExperimentNetwork>(name.c_str(), experiment.experiment, mode, options);
        leaf = std::make_unique<Leaf>((name + "_leaf").c_str(), experiment.experiment.topology,
                                      kFirstLeaf, network->network());
    }
    void declare() { network->network().declare_steady(kFirstLeaf, *leaf); }
    Tick finish(FlowId flow) const { return network->network().store().results()[flow].finish; }
    std::uint64_t hops() const { return network->counters().packet_hops; }
    std::uint64_t skips() const { return network->counters().phases.skips; }

    BuiltExperiment experiment;
    std::unique_ptr<ExperimentNetwork> network;
    std::unique_ptr<Leaf> leaf;
};

void check_near(Tick one, Tick other, double tolerance) {
    CHECK(static_cast<double>(one) ==
          doctest::Approx(static_cast<double>(other)).epsilon(tolerance));
}

}  // namespace

TEST_CASE("experiment.testbench.models.beside_a_foreign_one_the_rest_skips") {
    const std::string text = leaves("dcqcn", "[0, 1, \"2MB\"], [2, 3, \"20MB\"]");
    Bench packets("packets", text, Mode::packet);
    Bench hybrid("hybrid", text, Mode::hybrid);
    sc_core::sc_start();
    hybrid.network->finish();
    CHECK(hybrid.finish(0) == packets.finish(0));
    check_near(hybrid.finish(1), packets.finish(1), 0.005);
    CHECK(hybrid.skips() > 0);
    CHECK(hybrid.hops() < packets.hops() / 3);
}

TEST_CASE("experiment.testbench.models.a_foreign_one_that_leads_astray_wakes_whom_it_meets") {
    // Flow 1 goes up by the foreign leaf; flow 2 is of the other leaf, and may share the spine's port to it.
    const std::string text =
        leaves("timely",
               "[2, 3, \"20MB\"], [0, 3, \"200KB\", \"400us\"], [1, 3, \"200KB\", \"500us\"]", 2);
    Bench packets("packets", text, Mode::packet);
    Bench hybrid("hybrid", text, Mode::hybrid);
    sc_core::sc_start();
    hybrid.network->finish();
    CHECK(hybrid.skips() > 0);
    CHECK(hybrid.network->counters().phases.skip_backs > 0);
    CHECK(hybrid.hops() < packets.hops());
    for (FlowId flow = 0; flow < 3; ++flow) {
        CAPTURE(flow);
        check_near(hybrid.finish(flow), packets.finish(flow), 0.02);
    }
}

namespace {

/// The same experiment in packets, and with phases without and with a declared leaf.
struct Trio {
    Trio(const std::string& name, const std::string& text)
        : packets("packets" + name, text, Mode::packet),
          executed("executed" + name, text, Mode::hybrid),
          steady("steady" + name, text, Mode::hybrid) {
        steady.declare();
    }
    /// At most `share` of the packets are executed.
    void check(double tolerance, double share) {
        executed.network->finish();
        steady.network->finish();
        CHECK(executed.skips() == 0);
        CHECK(steady.skips() > 0);
        CHECK(static_cast<double>(steady.hops()) < share * static_cast<double>(packets.hops()));
        for (FlowId flow = 0; flow < packets.experiment.experiment.flows.size(); ++flow) {
            CAPTURE(flow);
            CHECK(executed.finish(flow) == packets.finish(flow));
            check_near(steady.finish(flow), packets.finish(flow), tolerance);
        }
    }

    Bench packets;
    Bench executed;
    Bench steady;
};

}  // namespace

TEST_CASE("experiment.testbench.models.a_steady_one_is_skipped") {
    // As much is executed as where all switches are the network's.
    const std::vector<std::pair<std::string, double>> laws{
        {"none", 0.15}, {"dctcp", 0.15}, {"timely", 0.6}};
    std::vector<std::unique_ptr<Trio>> trios;
    for (const auto& [law, share] : laws) {
        trios.push_back(
            std::make_unique<Trio>(law, leaves(law, "[0, 2, \"20MB\"], [3, 1, \"20MB\"]")));
    }
    sc_core::sc_start();
    for (std::size_t i = 0; i < laws.size(); ++i) {
        CAPTURE(laws[i].first);
        trios[i]->check(0.01, laws[i].second);
    }
}

TEST_CASE("experiment.testbench.models.so_is_what_waits_in_a_steady_one") {
    // Two flows share a port of the foreign leaf, where their queue is.
    Trio trio("", leaves("none", "[0, 1, \"60MB\"], [2, 1, \"60MB\"]"));
    sc_core::sc_start();
    trio.check(0.005, 0.9);
}

TEST_CASE("experiment.testbench.models.a_skip_of_a_steady_one_ends_where_a_flow_meets_it") {
    Trio trio("", leaves("dcqcn",
                         "[0, 1, \"20MB\"], [1, 0, \"100KB\", \"500us\"], "
                         "[3, 1, \"300KB\", \"900us\"]"));
    sc_core::sc_start();
    trio.check(0.01, 0.5);
    CHECK(trio.steady.network->counters().phases.skip_backs >= 2);
}

TEST_CASE("experiment.testbench.models.a_fuzzed_one_is_survived_by_what_skips") {
    // Flows of the other leaf skip, until others meet them that the fuzzed leaf has its hands on, and never lets go.
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    const char* const given = std::getenv("SLUICE_FUZZ_PACKETS");
    const std::uint64_t packets = given == nullptr ? 2'000 : std::strtoull(given, nullptr, 10);
    const std::uint64_t length = packets / 50;  // ms
    std::string list;
    std::uint64_t start = length * 200 + 1000;  // us: in the middle of a flow
    for (const char* ends : {"0, 3", "1, 3", "0, 2", "1, 2", "3, 0", "3, 1", "2, 0", "2, 1"}) {
        list += "[" + std::string(ends) + ", \"100KB\", \"" + std::to_string(start) + "us\"], ";
        start += length * 100;
    }
    for (std::uint64_t ms = 0; ms < length; ms += 2) {
        list += "[2, 3, \"20MB\", \"" + std::to_string(ms) + "ms\"], ";
    }
    const BuiltExperiment experiment = built(
        "stop = \"" + std::to_string(length) + "ms\"\n" + leaves("dcqcn", list), Mode::hybrid);
    NetworkOptions options;
    options.foreign.push_back(kFirstLeaf);
    ExperimentNetwork network("network", experiment.experiment, Mode::hybrid, options);
    Fuzzer fuzzer("fuzzer", network.network(), kFirstLeaf, packets, 20 * kMicrosecond, 11);
    sc_core::sc_start();
    network.finish();
    MESSAGE(fuzzer.taken, " calls taken, ", fuzzer.refused, " refused, ", fuzzer.heard, " heard, ",
            network.counters().packet_hops, " packet-hops, ", network.counters().phases.skips,
            " skips, ", network.counters().phases.skip_backs, " taken back");
    CHECK(fuzzer.taken > packets / 10);
    CHECK(fuzzer.refused > packets / 10);
    CHECK(network.network().clock().finished());
    CHECK(network.counters().phases.skips > 0);
    CHECK(network.counters().phases.skip_backs > 0);
}

TEST_CASE("experiment.testbench.models.what_is_declared_must_be_there") {
    const std::string text = leaves("dcqcn", "[0, 1, \"2MB\"]");
    Bench bench("bench", text, Mode::packet);
    CHECK_THROWS_WITH_AS(bench.network->network().declare_steady(0, *bench.leaf),
                         doctest::Contains("a device of the network's"), ConfigError);
    const BuiltExperiment local =
        built(leaves("dcqcn", "[0, 1, \"2MB\"]", 1, "wake = \"data\"\naudit = 0"), Mode::hybrid);
    NetworkOptions options;
    options.foreign = {3};
    CHECK_THROWS_WITH_AS(ExperimentNetwork("local", local.experiment, Mode::hybrid, options),
                         doctest::Contains("ACKs are no packets"), ConfigError);
    const BuiltExperiment trains =
        built(leaves("dcqcn", "[0, 1, \"2MB\"]", 1, "train = 4\naudit = 0"), Mode::hybrid);
    CHECK_THROWS_WITH_AS(ExperimentNetwork("trains", trains.experiment, Mode::hybrid, options),
                         doctest::Contains("trains"), ConfigError);
}

}  // namespace sluice::test
