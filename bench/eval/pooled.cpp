// SPDX-License-Identifier: Apache-2.0
// How often sequential evaluations of pooled estimands contain the truth (docs/evaluation.md has the table).
//
// usage: eval_pooled [--width W] [--repetitions R] [--threads T] [--check] [--unseen]
//
// Flows of a trial share a factor, and in one family busy trials have more flows. Truth: closed, or of 4e7 flows. The
// interval got its correction for skewness because of that family. --unseen: families that had no part in it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench/eval/distributions.h"
#include "bench/eval/parallel.h"
#include "core/random.h"
#include "eval/evaluation/estimator.h"
#include "eval/intervals/distributions.h"

using namespace sluice;
using namespace sluice::bench;
using namespace sluice::eval;

namespace {

/// A flow's value is exp(common + own), both normal.
struct Family {
    const char* name;
    double common;          ///< deviation, of a trial
    double own;             ///< deviation, of a flow
    bool busy;              ///< a trial has the more flows, the longer they are
    double overloaded = 0;  ///< share of trials whose flows take five times as long
    double index = 0;       ///< of Pareto flows in place of log-normal ones
};

const Family kFamilies[] = {
    {"a fifth of the variance common", 0.5, 1, false},
    {"half of the variance common", 1, 1, false},
    {"wide flows", 0.5, 1.5, false},
    {"half common, busy trials have more flows", 0.7, 0.7, true},
};

const Family kUnseen[] = {
    {"3% of trials overloaded", 0.3, 1, false, 0.03, 0},
    {"Pareto flows, index 2.2, a fifth common", 0.5, 0, false, 0, 2.2},
    {"busy trials, narrow flows", 0.5, 0.3, true, 0, 0},
};

std::vector<double> trial_of(const Family& family, Stream& stream) {
    const double common = family.common * stream.normal();
    const double mean = family.busy ? 40 * std::exp(common) : 20 + 60 * stream.uniform();
    std::vector<double> values(static_cast<std::size_t>(1 + mean));
    const double factor = family.overloaded > 0 && stream.uniform() < family.overloaded ? 5 : 1;
    for (double& value : values) {
        const double flow = family.index > 0 ? std::pow(1 - stream.uniform(), -1 / family.index)
                                             : std::exp(family.own * stream.normal());
        value = factor * std::exp(common) * flow;
    }
    return values;
}

/// 0: the mean.
double truth_of(const Family& family, double p) {
    const double deviation = std::hypot(family.common, family.own);
    if (!family.busy && family.overloaded == 0 && family.index == 0) {
        return p > 0 ? std::exp(deviation * normal_quantile(p))
                     : std::exp(deviation * deviation / 2);
    }
    Stream stream(12345);
    std::vector<double> values;
    while (values.size() < 40'000'000) {
        const std::vector<double> trial = trial_of(family, stream);
        values.insert(values.end(), trial.begin(), trial.end());
    }
    if (p == 0) {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    }
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(quantile_rank(p, values.size()) - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Metric metric_of(double p) {
    Metric metric;
    metric.name = metric.quantity = "x";
    metric.estimand = Estimand::pooled;
    if (p > 0) metric.quantile = p;
    return metric;
}

struct Stop {
    bool covered = false;
    double trials = 0;
};

Stop evaluate(const Family& family, double p, double truth, double width, std::uint64_t seed) {
    Stream stream(seed);
    Aim aim;
    aim.accuracy = width;
    const Metric metric = metric_of(p);
    Estimator estimator(metric, aim);
    std::size_t next = estimator.first_look();
    for (;;) {
        while (estimator.trials() < next) {
            TrialRecord trial;
            trial.columns["x"] = trial_of(family, stream);
            estimator.add(observe(metric, trial, {}));
        }
        const Decision decision = estimator.decide();
        if (decision.outcome != eval::Outcome::Continue) break;
        next = decision.next_look;
    }
    return {estimator.estimate().interval.contains(truth), static_cast<double>(next)};
}

}  // namespace

int main(int argc, char** argv) {
    double width = 0.1;
    std::size_t repetitions = 400;
    std::size_t threads = 1;
    bool check = false;
    bool unseen = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--check") {
            check = true;
        } else if (word == "--unseen") {
            unseen = true;
        } else if (i + 1 < argc && word == "--width") {
            width = std::atof(argv[++i]);
        } else if (i + 1 < argc && word == "--repetitions") {
            repetitions = static_cast<std::size_t>(std::atoi(argv[++i]));
        } else if (i + 1 < argc && word == "--threads") {
            threads = static_cast<std::size_t>(std::atoi(argv[++i]));
        } else {
            fmt::print(stderr,
                       "usage: eval_pooled [--width W] [--repetitions R] [--threads T] [--check] "
                       "[--unseen]\n");
            return 2;
        }
    }
    bool good = true;
    fmt::print("95% interval at a relative half-width of {:g}%, {} repetitions\n", 100 * width,
               repetitions);
    fmt::print("| values | pooled | contained | mean trials |\n| --- | --- | --- | --- |\n");
    std::vector<Family> families(std::begin(kFamilies), std::end(kFamilies));
    if (unseen) families.assign(std::begin(kUnseen), std::end(kUnseen));
    for (const Family& family : families) {
        for (const double p : {0.0, 0.5, 0.99, 0.999}) {
            const double truth = truth_of(family, p);
            std::vector<Stop> stops(repetitions);
            for_each_repetition(repetitions, threads, [&](std::size_t i) {
                stops[i] = evaluate(family, p, truth, width, random_bits(1, 0x706f6f6cULL, i));
            });
            double covered = 0;
            double trials = 0;
            for (const Stop& stop : stops) {
                covered += stop.covered;
                trials += stop.trials;
            }
            const double count = static_cast<double>(repetitions);
            fmt::print("| {} | {} | {:.1f}% | {:.0f} |\n", family.name,
                       p > 0 ? fmt::format("p{:g}", 100 * p) : "mean", 100 * covered / count,
                       trials / count);
            std::fflush(stdout);
            good = good && 100 * covered / count >= 92;
        }
    }
    return good || !check ? 0 : 1;
}
