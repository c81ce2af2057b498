// SPDX-License-Identifier: Apache-2.0
// How often intervals contain the truth (docs/evaluation.md has the tables).
//
// usage: eval_coverage WHAT [--width W] [--repetitions R] [--threads T] [--check] [--unseen]
//
// WHAT is stopping, tail, quantiles or comparison. --check: exit code 1 where a figure is outside of the
// bounds that are promised. --unseen: stopping on distributions that had no part in choosing the default's
// constants.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/eval/distributions.h"
#include "bench/eval/parallel.h"
#include "core/random.h"
#include "eval/comparison/elimination.h"
#include "eval/comparison/paired.h"
#include "eval/intervals/distributions.h"
#include "eval/intervals/quantile.h"
#include "eval/stopping/corrected_rule.h"
#include "eval/stopping/paper_rule.h"
#include "eval/tail/tail.h"

using namespace sluice;
using namespace sluice::bench;
using namespace sluice::eval;

namespace {

struct Options {
    std::string what;
    double width = 0.1;
    std::size_t repetitions = 2000;
    std::size_t threads = 1;
    bool check = false;
    bool unseen = false;
};

std::uint64_t seed_of(std::size_t distribution, std::size_t repetition) {
    return random_bits(distribution + 1, 0x636f766572616765ULL, repetition);
}

struct Stop {
    bool covered = false;
    double trials = 0;
    /// The forecast at its first look contains the count, which may be rounded up to the next look.
    bool forecast_held = false;
};

/// One sequential evaluation. The values are the same for both rules.
Stop evaluate(const StoppingRule& rule, const Distribution& distribution, std::uint64_t seed) {
    Stream stream(seed);
    Moments moments;
    std::size_t look = rule.first_look();
    double previous = 0;  // the look before the last one
    std::optional<TrialForecast> forecast;
    for (;;) {
        while (moments.count() < look) moments.add(distribution.draw(stream));
        if (!forecast) forecast = rule.forecast(moments);
        const Decision decision = rule.decide(moments);
        if (decision.outcome != Outcome::Continue) break;
        previous = static_cast<double>(look);
        look = decision.next_look;
    }
    const double trials = static_cast<double>(moments.count());
    const bool held = forecast && forecast->low <= trials && previous <= forecast->high;
    return {rule.interval(moments).contains(distribution.mean), trials, held};
}

struct Coverage {
    double covered = 0;  ///< percent
    double trials = 0;
    double forecast = 0;  ///< percent
};

Coverage measure(const StoppingRule& rule, const Distribution& distribution, std::size_t index,
                 const Options& options) {
    std::vector<Stop> stops(options.repetitions);
    for_each_repetition(stops.size(), options.threads, [&](std::size_t i) {
        stops[i] = evaluate(rule, distribution, seed_of(index, i));
    });
    Coverage sum;
    for (const Stop& stop : stops) {
        sum.covered += stop.covered;
        sum.trials += stop.trials;
        sum.forecast += stop.forecast_held;
    }
    const double count = static_cast<double>(stops.size());
    return {100 * sum.covered / count, sum.trials / count, 100 * sum.forecast / count};
}

bool stopping(const Options& options) {
    const Target target{0.95, options.width};
    const PaperRule paper(target);
    const CorrectedRule corrected(target);
    const double least = options.width >= 0.1 ? 93 : 94;
    bool good = true;
    fmt::print("95% interval at a relative half-width of {:g}%, {} repetitions\n",
               100 * options.width, options.repetitions);
    fmt::print(
        "| values | default: contained | mean N | forecast held | paper: contained | mean N | "
        "forecast held |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    std::size_t index = 0;
    for (const Distribution& distribution :
         options.unseen ? unseen_distributions() : judged_distributions()) {
        const Coverage ours = measure(corrected, distribution, index, options);
        const Coverage theirs = measure(paper, distribution, index++, options);
        fmt::print("| {} | {:.1f}% | {:.0f} | {:.0f}% | {:.1f}% | {:.0f} | {:.0f}% |\n",
                   distribution.name, ours.covered, ours.trials, ours.forecast, theirs.covered,
                   theirs.trials, theirs.forecast);
        std::fflush(stdout);
        good = good && ours.covered >= least && ours.covered <= 99;
    }
    return good;
}

double heavy_share(const Distribution& distribution, std::size_t index, std::size_t count,
                   const Options& options) {
    std::vector<char> heavy(options.repetitions);
    for_each_repetition(heavy.size(), options.threads, [&](std::size_t i) {
        Stream stream(seed_of(index, i));
        std::vector<double> values(count);
        for (double& value : values) value = distribution.draw(stream);
        heavy[i] = examine_tail(values).verdict == TailVerdict::Heavy;
    });
    return 100.0 * static_cast<double>(std::count(heavy.begin(), heavy.end(), 1)) /
           static_cast<double>(heavy.size());
}

bool tail(const Options& options) {
    fmt::print(
        "share of runs in which the tail check says heavy, {} repetitions\n"
        "| values | 100 trials | 1,000 | 10,000 |\n| --- | --- | --- | --- |\n",
        options.repetitions);
    bool good = true;
    std::size_t index = 100;
    for (bool hopeless : {true, false}) {
        for (const Distribution& distribution :
             hopeless ? hopeless_distributions() : judged_distributions()) {
            fmt::print("| {}", distribution.name);
            for (std::size_t count : {100, 1000, 10000}) {
                const double share = heavy_share(distribution, index, count, options);
                fmt::print(" | {:.1f}%", share);
                good = good && (!hopeless || share >= 95);
            }
            fmt::print(" |\n");
            std::fflush(stdout);
            ++index;
        }
    }
    return good;
}

/// A pooled quantile over trials whose flows share exp(z_trial / 2): their logarithm is normal with
/// variance 1/4 + 1. Trials have 20 to 79 flows.
Trials correlated_trials(std::size_t count, std::uint64_t seed) {
    Stream stream(seed);
    Trials trials(count);
    for (auto& trial : trials) {
        const double common = 0.5 * stream.normal();
        trial.resize(20 + static_cast<std::size_t>(60 * stream.uniform()));
        for (double& value : trial) value = std::exp(common + stream.normal());
    }
    return trials;
}

bool quantiles(const Options& options) {
    fmt::print(
        "95% intervals of quantiles, {} repetitions\n"
        "| estimand | trials | clustered: contained | as if independent: contained |\n"
        "| --- | --- | --- | --- |\n",
        options.repetitions);
    bool good = true;
    for (double p : {0.5, 0.9, 0.99, 0.999}) {
        const double truth = std::exp(std::sqrt(1.25) * normal_quantile(p));
        for (std::size_t count : {50, 200, 1000}) {
            if (static_cast<double>(count) * 50 * (1 - p) < 20) continue;
            std::vector<char> clustered(options.repetitions);
            std::vector<char> independent(options.repetitions);
            for_each_repetition(options.repetitions, options.threads, [&](std::size_t i) {
                const Trials trials = correlated_trials(count, seed_of(200, i));
                clustered[i] = clustered_quantile_interval(trials, p, 0.95).contains(truth);
                std::vector<double> pooled;
                for (const auto& trial : trials)
                    pooled.insert(pooled.end(), trial.begin(), trial.end());
                std::sort(pooled.begin(), pooled.end());
                independent[i] = order_statistic_interval(pooled, p, 0.95).contains(truth);
            });
            const auto share = [&](const std::vector<char>& hits) {
                return 100.0 * static_cast<double>(std::count(hits.begin(), hits.end(), 1)) /
                       static_cast<double>(hits.size());
            };
            fmt::print("| {:g}th percentile, pooled | {} | {:.1f}% | {:.1f}% |\n", 100 * p, count,
                       share(clustered), share(independent));
            good = good && share(clustered) >= 93 && share(clustered) <= 99;
        }
    }
    return good;
}

struct Comparisons {
    double trials = 0;    ///< mean until a verdict
    double verdicts = 0;  ///< percent
    double wrong = 0;     ///< percent Worse
};

/// Settings whose metric is exp(z / 2) per trial, of which `own` of the variance is not common; the
/// candidate's is `factor` times as long.
Comparisons compare(double factor, double own, std::size_t limit, const Options& options) {
    std::vector<PairedResult> results(options.repetitions);
    std::vector<double> trials(options.repetitions);
    for_each_repetition(options.repetitions, options.threads, [&](std::size_t i) {
        Stream stream(seed_of(300, i));
        PairedComparison comparison;
        do {
            const double common = std::sqrt(1 - own) * stream.normal();
            const auto value = [&] {
                return std::exp(0.5 * (common + std::sqrt(own) * stream.normal()));
            };
            const double candidate = factor * value();
            comparison.add(candidate, value());
            if (comparison.trials() >= 20) results[i] = comparison.result();
        } while (results[i].verdict == Verdict::Undecided && comparison.trials() < limit);
        trials[i] = static_cast<double>(comparison.trials());
    });
    Comparisons sum;
    for (std::size_t i = 0; i < results.size(); ++i) {
        sum.trials += trials[i];
        sum.verdicts += results[i].verdict != Verdict::Undecided;
        sum.wrong += results[i].verdict == Verdict::Worse;
    }
    const double count = static_cast<double>(results.size());
    return {sum.trials / count, 100 * sum.verdicts / count, 100 * sum.wrong / count};
}

bool comparison(const Options& options) {
    fmt::print(
        "settings 1% apart until a verdict, and equal settings looked at after each of 2,000 "
        "trials; {} repetitions\n"
        "| draws | mean trials, 1% apart | verdict worse | verdicts, equal |\n"
        "| --- | --- | --- | --- |\n",
        options.repetitions);
    double paired_trials = 0;
    double unpaired_trials = 0;
    bool good = true;
    for (double own : {0.1, 1.0}) {
        const Comparisons apart = compare(0.99, own, 1000000, options);
        const Comparisons equal = compare(1, own, 2000, options);
        fmt::print("| {} | {:.0f} | {:.2f}% | {:.2f}% |\n",
                   own < 1 ? "common, 10% of the variance its own" : "independent", apart.trials,
                   apart.wrong, equal.verdicts);
        (own < 1 ? paired_trials : unpaired_trials) = apart.trials;
        good = good && equal.verdicts <= 5;
    }
    fmt::print("{:.1f} times fewer trials\n", unpaired_trials / paired_trials);
    return good && unpaired_trials >= 3 * paired_trials;
}

int usage() {
    fmt::print(stderr,
               "usage: eval_coverage stopping|tail|quantiles|comparison [--width W] "
               "[--repetitions R] [--threads T] [--check] [--unseen]\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--check") {
            options.check = true;
        } else if (word == "--unseen") {
            options.unseen = true;
        } else if (word.rfind("--", 0) == 0) {
            if (i + 1 == argc) return usage();
            const double value = std::atof(argv[++i]);
            if (!(value > 0)) return usage();
            if (word == "--width") {
                options.width = value;
            } else if (word == "--repetitions") {
                options.repetitions = static_cast<std::size_t>(value);
            } else if (word == "--threads") {
                options.threads = static_cast<std::size_t>(value);
            } else {
                return usage();
            }
        } else {
            options.what = word;
        }
    }
    bool good = false;
    if (options.what == "stopping") {
        good = stopping(options);
    } else if (options.what == "tail") {
        good = tail(options);
    } else if (options.what == "quantiles") {
        good = quantiles(options);
    } else if (options.what == "comparison") {
        good = comparison(options);
    } else {
        return usage();
    }
    return good || !options.check ? 0 : 1;
}
