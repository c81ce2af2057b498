// SPDX-License-Identifier: Apache-2.0
/// Runs a scenario with the patched rules, as far as test_extending.py needs it: every host but the
/// last sends a megabyte to the last one, host i in class CLASS[i]; a detector is shown a flow of
/// steady throughput whose rate grows; a rate source and a restorer are asked once; and two lone flows are
/// simulated in mode hybrid. Prints JSON.
///
/// usage: sluice_extended SCENARIO.toml CLASS...
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "core/clocks/cell_step.h"
#include "core/engine/driver.h"
#include "core/hybrid/phase_controller.h"
#include "core/steady/detectors.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"
#include "scenario/scenario.h"

namespace {

using namespace sluice;

void run_packets(const Scenario& scenario, const std::vector<std::uint8_t>& classes) {
    const std::vector<NodeId>& hosts = scenario.topology.hosts();
    std::vector<FlowSpec> flows(hosts.size() - 1);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        flows[i].src = hosts[i];
        flows[i].dst = hosts.back();
        flows[i].size = 1'000'000;
        flows[i].start = 0;
        flows[i].priority = classes[i % classes.size()];
    }
    assign_source_ports(flows);
    Routing routing(scenario.topology);
    step::WorldStore store(scenario.topology, routing, scenario.network, flows, {}, nullptr);
    store.begin();
    step::CellStep step(store.world());
    engine::Driver driver(store, {}, {});
    driver.advance(kNever, step);
    const RunCounters counters = store.counters();
    std::printf("{\"pauses\": %lld, \"marks\": %lld, \"drops\": %lld, \"received_us\": [",
                static_cast<long long>(counters.pfc_pauses),
                static_cast<long long>(counters.ecn_marks), static_cast<long long>(counters.drops));
    for (std::size_t i = 0; i < flows.size(); ++i) {
        std::printf("%s%.3f", i > 0 ? ", " : "",
                    static_cast<double>(store.results()[i].received) * 1e-6);
    }
}

/// By how much a skip of 5 us moves the timer of a marked flow's law, in microseconds; -1: states that differ by that are
/// the same to symmetry reduction, or equal ones are not.
double law_moved(const Scenario& scenario) {
    const congestion::Parameters& parameters = scenario.network.congestion;
    congestion::State state;
    congestion::start(state, parameters, 100'000'000'000, 0, 4 * kMicrosecond);
    congestion::Ack ack;
    ack.echo = true;
    ack.now = kMicrosecond;
    congestion::on_ack(state, parameters, {}, ack);
    congestion::State moved = state;
    const bool equal = congestion::same(state, moved, parameters);
    congestion::shift(moved, parameters, 5 * kMicrosecond);
    if (!equal || congestion::same(state, moved, parameters)) return -1;
    const Tick by =
        congestion::next_timer(moved, parameters) - congestion::next_timer(state, parameters);
    return static_cast<double>(by) * 1e-6;
}

/// Samples until the detector calls a flow steady that carries 1,000 bytes per sample, while its
/// law's rate doubles every 64; -1: never.
int samples_until_steady(const Scenario& scenario) {
    const auto detector = steady::make_detector(scenario.phases.detector);
    steady::GroupFacts facts;
    facts.congestion = scenario.network.congestion;
    facts.base_rtt = 4 * kMicrosecond;
    facts.line_rate = 100'000'000'000;
    facts.flows = 1;
    detector->reset(facts);
    for (int sample = 1; sample <= 1024; ++sample) {
        steady::FlowReading reading;
        reading.progress = sample * kMicrosecond;
        reading.acked = sample * std::int64_t{1000};
        reading.in_flight = 4000;
        reading.rate = static_cast<std::int64_t>(1e9 * std::exp2(sample / 64.0));
        detector->add(reading.progress, {reading}, {});
        if (detector->judge().steady) {
            return sample;
        }
    }
    return -1;
}

/// What the source gives a flow that sends 3 and is alone on a link of 10, but is guaranteed 1.
double given_rate(const Scenario& scenario) {
    const std::unique_ptr<hybrid::RateSource> source = make_rate_source(scenario.phases.rates);
    if (source == nullptr) {
        return 0;
    }
    hybrid::RateDemand flow;
    flow.links.push_back({0, 1.0});
    flow.instantaneous = 3;
    flow.guaranteed = 1;
    return source->rates({flow}, {10.0}).front();
}

/// What the restorer makes of a queue that grew from 0 by 100 bytes a look; -1: it stays as it was.
double restored_depth(const Scenario& scenario) {
    const std::unique_ptr<hybrid::Restorer> restorer =
        make_restorer(scenario.phases, scenario.network.congestion.law);
    if (restorer == nullptr) {
        return -1;
    }
    hybrid::PortPast past;
    for (std::size_t look = 0; look < restorer->looks(); ++look) {
        past.depth.push_back(100.0 * static_cast<double>(look));
    }
    return restorer->depths({past}).front();
}

/// Skips of a flow from the first host to the last one that nobody meets.
unsigned long long skips_of(const Scenario& scenario, std::int64_t size) {
    std::vector<FlowSpec> flows(1);
    flows[0].src = scenario.topology.hosts().front();
    flows[0].dst = scenario.topology.hosts().back();
    flows[0].size = size;
    flows[0].start = 0;
    assign_source_ports(flows);
    Routing routing(scenario.topology);
    step::WorldStore store(scenario.topology, routing, scenario.network, flows, {}, nullptr);
    step::FlowPartitions partitions(store);
    hybrid::NetworkView view(store, partitions);
    hybrid::PhaseEngine engine(store, partitions, view);
    hybrid::PhaseController controller(engine, partitions, nullptr, nullptr, PhaseConfig{}, kNever);
    store.begin();
    step::CellStep step(store.world());
    engine::Driver driver(store, {}, {}, engine::Clocks::one, partitions, &controller);
    driver.advance(kNever, step);
    return controller.report().counters().skips;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Scenario scenario = load_scenario(argv[1]);
        std::vector<std::uint8_t> classes;
        for (int i = 2; i < argc; ++i) {
            classes.push_back(static_cast<std::uint8_t>(std::atoi(argv[i])));
        }
        run_packets(scenario, classes);
        std::printf(
            "], \"steady_after\": %d, \"rate\": %.3f, \"depth\": %.3f, \"law_moved\": %.3f, "
            "\"skips\": [%llu, %llu]}\n",
            samples_until_steady(scenario), given_rate(scenario), restored_depth(scenario),
            law_moved(scenario), skips_of(scenario, 5'000'000), skips_of(scenario, 50'000'000));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
