// SPDX-License-Identifier: Apache-2.0
/// The step functions in a plain loop, without SystemC: what bench/packet-engine compares packet
/// mode with. Runs a scenario file and prints one line of JSON. `--exact` takes every switch
/// through the interleaved order, `--oracle` runs the one-event-at-a-time driver, `--clocks` runs
/// partition clocks, `--threads=N` divides windows among N threads.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "bench/experiment_loop.h"
#include "core/clocks/oracle.h"
#include "core/clocks/worker_pool.h"
#include "core/engine/driver.h"
#include "core/error.h"
#include "experiment/build_experiment.h"

namespace {

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

void show(const sluice::step::ClockStatistics& clocks) {
    std::fprintf(stderr,
                 "windows: %llu solo, %llu joint; stretches: %llu, %llu bounded; %llu bound stops; "
                 "flows: %llu in, %llu out, %llu searches; partitions: %llu merged, %llu split; "
                 "domains: %llu merged, %llu split, most %zu\n",
                 static_cast<unsigned long long>(clocks.windows_solo),
                 static_cast<unsigned long long>(clocks.windows_joint),
                 static_cast<unsigned long long>(clocks.stretches),
                 static_cast<unsigned long long>(clocks.bounded_stretches),
                 static_cast<unsigned long long>(clocks.bound_stops),
                 static_cast<unsigned long long>(clocks.entries),
                 static_cast<unsigned long long>(clocks.exits),
                 static_cast<unsigned long long>(clocks.searches),
                 static_cast<unsigned long long>(clocks.merges),
                 static_cast<unsigned long long>(clocks.splits),
                 static_cast<unsigned long long>(clocks.domains_merged),
                 static_cast<unsigned long long>(clocks.domains_split), clocks.most_domains);
}

/// Without the short cut of quiet windows.
struct OrderedPolicies : sluice::step::ScenarioPolicies {
    static constexpr bool kQuietWindows = false;
};

void run(const char* path, const char* driver) {
    using namespace sluice;
    Scenario scenario = load_scenario(path);
    BuiltExperiment built = build_experiment(scenario);
    const Experiment& experiment = built.experiment;
    ExperimentLoop loop(experiment);
    step::WorldStore& store = loop.store;
    const double begin = user_seconds();
    const auto wall_begin = std::chrono::steady_clock::now();
    if (std::strcmp(driver, "--oracle") == 0) {
        step::Oracle(store).run(experiment.stop);
    } else {
        const bool ordered = std::strcmp(driver, "--exact") == 0;
        const auto step_cell = [&](const step::Cell& cell, Tick from, Tick to) {
            if (ordered) {
                loop.step.step_with<OrderedPolicies>(cell, from, to);
            } else {
                loop.step(cell, from, to);
            }
        };
        if (std::strcmp(driver, "--clocks") == 0) {
            step::FlowPartitions partitions(store);
            engine::Driver clocks(store, experiment.link_events, {}, engine::Clocks::many,
                                  partitions, nullptr);
            clocks.advance(experiment.stop, step_cell);
            show(clocks.statistics());
        } else {
            const bool threads = std::strncmp(driver, "--threads=", 10) == 0;
            engine::Driver clock(store, experiment.link_events, {});
            std::unique_ptr<step::WorkerPool> pool;
            if (threads) {
                if (built.stream != nullptr) {
                    throw ConfigError("a streamed job's callbacks are for one thread");
                }
                pool = std::make_unique<step::WorkerPool>(
                    store, step::Threads{static_cast<std::uint32_t>(std::atoi(driver + 10)), 0},
                    step::cell_stepper);
                clock.divide_windows(*pool);
            }
            clock.advance(experiment.stop, step_cell);
        }
    }
    const double user = user_seconds() - begin;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_begin;
    const RunCounters counters = store.counters();
    std::printf(
        "{\"packet_hops\": %llu, \"user_s\": %.6f, \"wall_s\": %.6f, "
        "\"packet_hops_per_s\": %.0f}\n",
        static_cast<unsigned long long>(counters.packet_hops), user, wall.count(),
        static_cast<double>(counters.packet_hops) / user);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fprintf(
            stderr,
            "usage: step_loop SCENARIO.toml [--exact | --oracle | --clocks | --threads=N]\n");
        return 2;
    }
    try {
        run(argv[1], argc > 2 ? argv[2] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "step_loop: %s\n", error.what());
        return 2;
    }
    return 0;
}
