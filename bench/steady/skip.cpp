// SPDX-License-Identifier: Apache-2.0
/// Judges a detector in closed loop: every case with and without skips. One CSV row per case.
///
///   steady_skip CASES_DIR [--half tune|judge] [--law L] [--kind K] [--metric M] [--theta X]
///               [--span TICKS] [--eps-bw X] [--eps-q X] [--tolerance X] [--growth X]
///               [--lag none|group|flow] [--flows FILE]
///
/// With --nudge TICKS it compares packet mode with itself instead, each flow starting up to that much
/// later and nothing skipped: what no extrapolation can be expected to beat.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <vector>

#include "bench/steady/options.h"
#include "bench/steady/replay.h"
#include "core/random.h"
#include "experiment/build_experiment.h"

namespace {

using namespace sluice;
using steady_bench::Case;
using steady_bench::Options;
using steady_bench::ReplayResult;

constexpr std::uint64_t kNudgeStream = random_stream(0x6e75646765, 0);

/// Mean distance of the sorted completion times: of the distribution, whichever flow had them.
double rank_error(std::vector<Tick> truth, std::vector<Tick> other) {
    std::sort(truth.begin(), truth.end());
    std::sort(other.begin(), other.end());
    double mean = 0;
    for (std::size_t f = 0; f < truth.size(); ++f) {
        mean += std::abs(static_cast<double>(other[f] - truth[f])) / static_cast<double>(truth[f]) /
                static_cast<double>(truth.size());
    }
    return mean;
}

void run_case(const Options& options, const Case& one, std::ofstream& flows) {
    Scenario scenario = load_scenario(options.cases + "/" + one.name + ".toml");
    BuiltExperiment built = build_experiment(scenario);
    const ReplayResult truth = steady_bench::replay(built.experiment, nullptr);
    for (std::size_t f = 0; options.nudge > 0 && f < built.experiment.flows.size(); ++f) {
        built.experiment.flows[f].start +=
            uniform_below(1, kNudgeStream, f, static_cast<std::uint32_t>(options.nudge));
    }
    const ReplayResult other = steady_bench::replay(
        built.experiment, options.nudge > 0 ? nullptr : &options.settings, options.lag);
    double mean = 0;
    double worst = 0;
    for (std::size_t f = 0; f < truth.fct.size(); ++f) {
        const double error =
            static_cast<double>(other.fct[f] - truth.fct[f]) / static_cast<double>(truth.fct[f]);
        mean += std::abs(error) / static_cast<double>(truth.fct.size());
        worst = std::max(worst, std::abs(error));
        if (flows.is_open()) {
            flows << one.name << ',' << one.kind << ',' << one.law << ',' << f << ','
                  << truth.fct[f] << ',' << other.fct[f] << ',' << error << '\n';
        }
    }
    std::string refusals;
    for (const auto& [reason, count] : other.refusals) {
        refusals += (refusals.empty() ? "" : " ") + reason + ":" + std::to_string(count);
    }
    std::printf(
        "%s,%s,%s,%zu,%.6f,%.6f,%.6f,%.6f,%.4f,%llu,%llu,%llu,%s\n", one.name.c_str(),
        one.kind.c_str(), one.law.c_str(), truth.fct.size(), mean, worst,
        rank_error(truth.fct, other.fct),
        static_cast<double>(other.makespan - truth.makespan) / static_cast<double>(truth.makespan),
        static_cast<double>(other.skipped) / static_cast<double>(other.makespan),
        static_cast<unsigned long long>(other.skips),
        static_cast<unsigned long long>(truth.packet_hops),
        static_cast<unsigned long long>(other.packet_hops), refusals.c_str());
}

void run(const Options& options) {
    std::ofstream flows;
    if (!options.flows.empty()) {
        flows.open(options.flows);
        flows << "case,kind,law,flow,fct_packet,fct_skip,error\n";
    }
    std::printf(
        "case,kind,law,flows,mean,worst,rank,makespan,skipped,skips,hops_packet,hops_skip,"
        "refusals\n");
    for (const Case& one : steady_bench::chosen_cases(options)) {
        run_case(options, one, flows);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(steady_bench::parse_options(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "steady_skip: %s\n", error.what());
        return 2;
    }
    return 0;
}
