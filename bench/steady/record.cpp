// SPDX-License-Identifier: Apache-2.0
/// Runs a scenario in packet mode (plain loop, no SystemC) and writes what a phase controller could
/// read between windows: every flow's counters and every used switch queue, at the detectors' own
/// sampling period. usage: steady_record SCENARIO.toml OUT [--set key=value]...
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <stdexcept>
#include <utility>

#include "bench/experiment_loop.h"
#include "bench/steady/series.h"
#include "core/routing/base_rtt.h"
#include "experiment/build_experiment.h"

namespace {

using namespace sluice;
using steady_bench::FlowRecord;
using steady_bench::FlowSample;
using steady_bench::Series;

/// A run that samples more than this is a mistake in the scenario, not a small case.
constexpr std::size_t kMostSamples = 40'000'000;

class Recorder {
  public:
    Recorder(const Experiment& experiment, step::WorldStore& store)
        : experiment_(experiment), store_(store) {
        const step::World& world = store.world();
        series_.congestion = experiment.network.congestion;
        series_.payload = world.payload;
        describe_flows();
        steady::GroupFacts facts;
        facts.congestion = series_.congestion;
        facts.payload = series_.payload;
        for (const FlowRecord& flow : series_.flows) {
            facts.base_rtt = std::max(facts.base_rtt, flow.base_rtt);
            facts.line_rate = std::max(facts.line_rate, world.egress[flow.ports.front()].line_rate);
        }
        series_.line_rate = facts.line_rate;
        series_.period = steady::sampling_period(facts);
    }

    Tick period() const { return series_.period; }

    void sample(Tick now) {
        const step::World& world = store_.world();
        const std::size_t before = series_.samples.size();
        for (FlowId f = 0; f < experiment_.flows.size(); ++f) {
            if (world.sender_at[f] == kNone) {
                continue;
            }
            const step::Sender& sender = step::sender_of(world, f);
            FlowSample entry;
            entry.flow = f;
            entry.reading.progress = sender.last_progress;
            entry.reading.acked = sender.una_bytes;
            entry.reading.in_flight = sender.next_bytes - sender.una_bytes;
            entry.reading.rate = sender.cc.rate;
            series_.samples.push_back(entry);
        }
        if (series_.samples.size() == before) {
            return;
        }
        if (series_.samples.size() > kMostSamples) {
            throw std::runtime_error("too many samples: make the case smaller");
        }
        series_.times.push_back(now);
        series_.first.push_back(before);
        for (const PortId port : series_.ports) {
            series_.queues.push_back(world.egress[port].queued_bytes);
        }
    }

    Series finish() {
        series_.first.push_back(series_.samples.size());
        for (std::size_t f = 0; f < series_.flows.size(); ++f) {
            series_.flows[f].start = store_.results()[f].start;
            series_.flows[f].finish = store_.results()[f].finish;
        }
        return std::move(series_);
    }

  private:
    void describe_flows() {
        const step::World& world = store_.world();
        std::vector<std::pair<NodeId, NodeId>> pairs;
        for (const FlowSpec& spec : experiment_.flows) {
            pairs.emplace_back(spec.src, spec.dst);
        }
        const std::vector<BaseRtt> base = pair_base_rtts(
            experiment_.topology, {world.payload, experiment_.network.arithmetic}, pairs);
        std::set<PortId> switch_ports;
        for (FlowId f = 0; f < experiment_.flows.size(); ++f) {
            FlowRecord flow;
            flow.size = experiment_.flows[f].size;
            flow.src = experiment_.flows[f].src;
            flow.dst = experiment_.flows[f].dst;
            flow.base_rtt = base[f].rtt;
            for (const PortId port : world.route[f].port) {
                if (port == kNone) {
                    continue;
                }
                flow.ports.push_back(port);
                if (world.is_host[experiment_.topology.node_of(port)] == 0) {
                    switch_ports.insert(port);
                }
            }
            series_.flows.push_back(flow);
        }
        series_.ports.assign(switch_ports.begin(), switch_ports.end());
    }

    const Experiment& experiment_;
    step::WorldStore& store_;
    Series series_;
};

void record(const char* scenario_path, const char* out, const std::vector<std::string>& overrides) {
    Scenario scenario = load_scenario(scenario_path, overrides);
    BuiltExperiment built = build_experiment(scenario);
    const Experiment& experiment = built.experiment;
    ExperimentLoop loop(experiment, true);
    Recorder recorder(experiment, loop.store);
    RunHooks hooks;
    hooks.on_sample = [&](Tick now, const auto&) { recorder.sample(now); };
    hooks.sample_every = recorder.period();
    hooks.sample_from = recorder.period();
    hooks.sample_to = kNever;
    loop.run_sampled(experiment.link_events, std::move(hooks), experiment.stop);
    const Series series = recorder.finish();
    steady_bench::write_series(series, out);
    const RunCounters counters = loop.store.counters();
    std::printf(
        "%s: %zu flows, %zu samples every %.3f us, %llu packet-hops, until %.3f ms\n",
        scenario_path, series.flows.size(), series.times.size(),
        static_cast<double>(series.period) / kMicrosecond,
        static_cast<unsigned long long>(counters.packet_hops),
        series.times.empty() ? 0.0 : static_cast<double>(series.times.back()) / kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> overrides;
    for (int i = 3; i + 1 < argc; i += 2) {
        if (std::strcmp(argv[i], "--set") == 0) {
            overrides.emplace_back(argv[i + 1]);
        }
    }
    if (argc < 3 || argc != 3 + 2 * static_cast<int>(overrides.size())) {
        std::fprintf(stderr, "usage: steady_record SCENARIO.toml OUT [--set key=value]...\n");
        return 2;
    }
    try {
        record(argv[1], argv[2], overrides);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "steady_record: %s\n", error.what());
        return 2;
    }
    return 0;
}
