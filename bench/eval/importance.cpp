// SPDX-License-Identifier: Apache-2.0
// Importance sampling on M/G/1, first come, first served, a link of 100 Gb/s with log-normal sizes, trials
// that start empty: does the interval contain the 99th percentile, and how many trials does it save?
// docs/evaluation.md has the tables.
//
// usage: eval_importance [--repetitions R] [--threads T] [--truth FLOWS] [--trials N] [--p P]
//                        [--original SHARE] [--check]
//
// The truth comes of FLOWS (1e8) simulated flows a row, with its own standard error beside it. --check: exit code
// 1 where the interval of the default contains it in fewer than 92% of the repetitions that are no error.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/eval/distributions.h"
#include "bench/eval/parallel.h"
#include "core/random.h"
#include "eval/importance/model_based.h"
#include "eval/importance/single_queue.h"
#include "eval/intervals/moments.h"

using namespace sluice;
using namespace sluice::bench;
using namespace sluice::eval;

namespace {

constexpr double kLink = 12.5e9;       // bytes/s
constexpr double kMeanSize = 1.711e6;  // bytes, WebSearch's

struct Options {
    std::size_t repetitions = 100;
    std::size_t threads = 1;
    double truth_flows = 1e8;
    std::size_t trials = 800;
    double original_share = 0.25;
    double p = 0.99;
    bool check = false;
};

/// Counts of values in bins a ten-thousandth wide (relative).
class LogHistogram {
  public:
    void add(double value) {
        const double bin = (std::log(value) - kFrom) / kWidth;
        ++counts_[static_cast<std::size_t>(std::clamp(bin, 0.0, kBins - 1.0))];
        ++total_;
    }
    void add(const LogHistogram& other) {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
        total_ += other.total_;
    }
    /// The value with this share of all beyond it.
    double beyond(double share) const {
        double sum = 0;
        std::size_t i = counts_.size();
        while (i > 0 &&
               sum + static_cast<double>(counts_[i - 1]) <= share * static_cast<double>(total_)) {
            sum += static_cast<double>(counts_[--i]);
        }
        return std::exp(kFrom + kWidth * static_cast<double>(i));
    }

  private:
    static constexpr double kFrom = -30;
    static constexpr double kWidth = 1e-4;
    static constexpr double kBins = 4e5;
    std::vector<std::uint64_t> counts_ =
        std::vector<std::uint64_t>(static_cast<std::size_t>(kBins));
    std::uint64_t total_ = 0;
};

/// Original trials by a loop of its own, which shares nothing with FlowSource but the model.
void simulate_plainly(const LogNormal& sizes, double rate, double length, std::uint64_t seed,
                      double flows, LogHistogram& out) {
    Stream stream(seed);
    while (flows > 0) {
        double free_at = 0;
        for (double now = stream.exponential() / rate; now < length;
             now += stream.exponential() / rate) {
            const double size = std::exp(sizes.mu + sizes.sigma * stream.normal());
            free_at = std::max(free_at, now) + size / kLink;
            out.add(free_at - now);
            flows -= 1;
        }
    }
}

struct Truth {
    double value = 0;
    double error = 0;  ///< relative standard error, from 20 parts
};

Truth find_truth(const LogNormal& sizes, double rate, double length, const Options& options) {
    constexpr std::size_t kParts = 20;
    std::vector<LogHistogram> parts(kParts);
    for_each_repetition(kParts, options.threads, [&](std::size_t i) {
        simulate_plainly(sizes, rate, length, random_bits(7, 0x7472757468ULL, i),
                         options.truth_flows / kParts, parts[i]);
    });
    LogHistogram all;
    Moments quantiles;
    for (const auto& part : parts) {
        all.add(part);
        quantiles.add(part.beyond(1 - options.p));
    }
    return {all.beyond(1 - options.p), quantiles.standard_error() / quantiles.mean()};
}

struct Row {
    double sigma = 0;  ///< of ln size
    double load = 0;
    double length = 0;
};

/// Over repetitions that are no error.
struct Score {
    double good = 0;
    double contained = 0;
    double with_batches = 0;
    double batched = 0;
    Moments off;
    Moments batched_off;
    Moments width;
    Moments effective;
    Moments shift;
    std::vector<double> gains;

    void add(const ModelBasedResult& result, double truth) {
        good += 1;
        contained += result.interval.contains(truth);
        if (result.batched) {
            with_batches += 1;
            batched += result.batched->contains(truth);
            batched_off.add(result.batched->estimate / truth - 1);
        }
        off.add(result.interval.estimate / truth - 1);
        width.add(result.interval.half_width() / truth);
        gains.push_back(result.gain);
        effective.add(result.weights.effective_trials);
        shift.add(result.change.shift);
    }
    double share() const { return 100 * contained / std::max(1.0, good); }
};

Score repeat(const Traffic& traffic, double truth, const Options& options) {
    std::vector<std::optional<ModelBasedResult>> results(options.repetitions);
    for_each_repetition(options.repetitions, options.threads, [&](std::size_t i) {
        ModelBasedSettings settings;
        settings.p = options.p;
        settings.trials = options.trials;
        settings.search.original_share = options.original_share;
        settings.known_flow_count = true;
        settings.seed = random_bits(11, 0x7265706561ULL, i);
        try {
            results[i] = estimate_tail_quantile(traffic, single_queue(kLink), settings);
        } catch (const DegenerateWeights&) {
            // Left empty, and counted.
        }
    });
    Score score;
    for (const auto& result : results) {
        if (result) score.add(*result, truth);
    }
    return score;
}

bool judge(const Row& row, const Options& options) {
    const LogNormal sizes{std::log(kMeanSize) - row.sigma * row.sigma / 2, row.sigma};
    const double rate = row.load * kLink / kMeanSize;
    const Truth truth = find_truth(sizes, rate, row.length, options);
    const Traffic traffic{rate, row.length, SizeModel(sizes)};
    Score score = repeat(traffic, truth.value, options);
    fmt::print("| {:g} | {:g} | {:g} s | {:.1f} | {:.4g} ms +- {:.2f}% | {} |", row.sigma, row.load,
               row.length, traffic.flows_per_trial(), 1e3 * truth.value, 100 * truth.error,
               options.repetitions - static_cast<std::size_t>(score.good));
    if (score.good > 0) {
        std::sort(score.gains.begin(), score.gains.end());
        fmt::print(
            " {:.0f}% | {:.0f}% | {:+.2f}% | {:+.2f}% | {:.1f}% | {:.0f} | {:.2f} | {:.2f} |",
            score.share(), 100 * score.batched / std::max(1.0, score.with_batches),
            100 * score.off.mean(), 100 * score.batched_off.mean(), 100 * score.width.mean(),
            score.effective.mean(), score.shift.mean(), score.gains[score.gains.size() / 2]);
    }
    fmt::print("\n");
    std::fflush(stdout);
    return score.good < 20 || score.share() >= 92;
}

int usage() {
    fmt::print(
        stderr,
        "usage: eval_importance [--repetitions R] [--threads T] [--truth FLOWS] [--trials N] "
        "[--p P] [--original SHARE] [--check]\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--check") {
            options.check = true;
            continue;
        }
        if (i + 1 == argc) return usage();
        const double value = std::atof(argv[++i]);
        if (!(value > 0)) return usage();
        if (word == "--repetitions") {
            options.repetitions = static_cast<std::size_t>(value);
        } else if (word == "--threads") {
            options.threads = static_cast<std::size_t>(value);
        } else if (word == "--truth") {
            options.truth_flows = value;
        } else if (word == "--trials") {
            options.trials = static_cast<std::size_t>(value);
        } else if (word == "--original" && value <= 1) {
            options.original_share = value;
        } else if (word == "--p" && value < 1) {
            options.p = value;
        } else {
            return usage();
        }
    }
    fmt::print(
        "{:g} quantile of response times, {} trials after the search, {} repetitions\n"
        "| sigma | load | trial | flows | truth | errors | contained | batched | off | batched off "
        "| half-width | "
        "effective trials | shift | gain |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        options.p, options.trials, options.repetitions);
    bool good = true;
    for (double sigma : {1.0, 2.0, 2.83}) {
        for (const Row& row : {Row{sigma, 0.1, 0.02}, Row{sigma, 0.3, 0.001},
                               Row{sigma, 0.3, 0.005}, Row{sigma, 0.3, 0.02}, Row{sigma, 0.3, 0.1},
                               Row{sigma, 0.6, 0.005}, Row{sigma, 0.6, 0.02}}) {
            good = judge(row, options) && good;
        }
    }
    return good || !options.check ? 0 : 1;
}
