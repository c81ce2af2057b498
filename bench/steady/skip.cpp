// SPDX-License-Identifier: Apache-2.0
/// Judges a detector in closed loop: every case with and without skips. One CSV row per case.
///
///   steady_skip CASES_DIR [--half tune|judge] [--law L] [--kind K] [--metric M] [--theta X]
///               [--span TICKS] [--tolerance X] [--growth X] [--flows FILE]
///
/// With --nudge TICKS it compares packet mode with itself instead, the last flow starting that much
/// later and nothing skipped: what no extrapolation can be expected to beat.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/steady/replay.h"
#include "cli/build_experiment.h"

namespace {

using namespace sluice;

struct Options {
    std::string cases;
    std::string half;
    std::string law;
    std::string kind;
    std::string flows;
    Tick nudge = 0;
    steady::DetectorSettings settings;
};

steady::Metric metric_from(const std::string& name) {
    for (const steady::Metric metric : {steady::Metric::hygra, steady::Metric::rate,
                                        steady::Metric::inflight, steady::Metric::queue}) {
        if (name == steady::metric_name(metric)) {
            return metric;
        }
    }
    throw std::runtime_error("unknown metric " + name);
}

Options parse(int argc, char** argv) {
    if (argc < 2 || argc % 2 != 0) {
        throw std::runtime_error("usage: steady_skip CASES_DIR [--OPTION VALUE]...");
    }
    Options options;
    options.cases = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        const std::string value = argv[i + 1];
        if (key == "--half") {
            options.half = value;
        } else if (key == "--law") {
            options.law = value;
        } else if (key == "--kind") {
            options.kind = value;
        } else if (key == "--flows") {
            options.flows = value;
        } else if (key == "--nudge") {
            options.nudge = std::atoll(value.c_str());
        } else if (key == "--metric") {
            options.settings.metric = metric_from(value);
        } else if (key == "--theta") {
            options.settings.theta = std::atof(value.c_str());
        } else if (key == "--span") {
            options.settings.span = std::atoll(value.c_str());
        } else if (key == "--tolerance") {
            options.settings.tolerance = std::atof(value.c_str());
        } else if (key == "--growth") {
            options.settings.growth = std::atof(value.c_str());
        } else {
            throw std::runtime_error("unknown option " + key);
        }
    }
    return options;
}

void run_case(const Options& options, const std::string& name, const std::string& kind,
              const std::string& law, std::ofstream* flows) {
    Scenario scenario = load_scenario(options.cases + "/" + name + ".toml");
    BuiltExperiment built = build_experiment(scenario);
    const steady_bench::ReplayResult truth = steady_bench::replay(built.experiment, nullptr);
    built.experiment.flows.back().start += options.nudge;
    const steady_bench::ReplayResult hybrid =
        steady_bench::replay(built.experiment, options.nudge > 0 ? nullptr : &options.settings);
    double mean = 0;
    double worst = 0;
    for (std::size_t f = 0; f < truth.fct.size(); ++f) {
        const double error = static_cast<double>(hybrid.fct[f] - truth.fct[f]) /
                             static_cast<double>(truth.fct[f]);
        mean += std::abs(error) / static_cast<double>(truth.fct.size());
        worst = std::max(worst, std::abs(error));
        if (flows != nullptr) {
            *flows << name << ',' << kind << ',' << law << ',' << f << ',' << truth.fct[f] << ','
                   << hybrid.fct[f] << ',' << error << '\n';
        }
    }
    std::string refusals;
    for (const auto& [reason, count] : hybrid.refusals) {
        refusals += (refusals.empty() ? "" : " ") + reason + ":" + std::to_string(count);
    }
    std::printf("%s,%s,%s,%zu,%.6f,%.6f,%.6f,%.4f,%llu,%llu,%llu,%s\n", name.c_str(), kind.c_str(),
                law.c_str(), truth.fct.size(), mean, worst,
                static_cast<double>(hybrid.makespan - truth.makespan) /
                    static_cast<double>(truth.makespan),
                static_cast<double>(hybrid.skipped) / static_cast<double>(hybrid.makespan),
                static_cast<unsigned long long>(hybrid.skips),
                static_cast<unsigned long long>(truth.packet_hops),
                static_cast<unsigned long long>(hybrid.packet_hops), refusals.c_str());
}

void run(const Options& options) {
    std::ifstream index(options.cases + "/cases.csv");
    if (!index) {
        throw std::runtime_error(options.cases + "/cases.csv: cannot be opened");
    }
    std::ofstream flows;
    if (!options.flows.empty()) {
        flows.open(options.flows);
        flows << "case,kind,law,flow,fct_packet,fct_skip,error\n";
    }
    std::printf(
        "case,kind,law,flows,mean,worst,makespan,skipped,skips,hops_packet,hops_skip,refusals\n");
    std::string line;
    std::getline(index, line);
    while (std::getline(index, line)) {
        std::stringstream fields(line);
        std::string name;
        std::string half;
        std::string kind;
        std::string law;
        std::getline(fields, name, ',');
        std::getline(fields, half, ',');
        std::getline(fields, kind, ',');
        std::getline(fields, law, ',');
        if ((options.half.empty() || options.half == half) &&
            (options.law.empty() || options.law == law) &&
            (options.kind.empty() || options.kind == kind)) {
            run_case(options, name, kind, law, options.flows.empty() ? nullptr : &flows);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "steady_skip: %s\n", error.what());
        return 2;
    }
    return 0;
}
