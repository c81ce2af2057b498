// SPDX-License-Identifier: Apache-2.0
#include "eval/warmup/warmup.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/error.h"

namespace sluice::eval {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kFewestBatches = 4;

/// Means of consecutive fives; what does not fill one at the end is left out.
std::vector<double> batch_means(const std::vector<double>& series) {
    std::vector<double> means(series.size() / kBatch, 0.0);
    for (std::size_t i = 0; i < means.size() * kBatch; ++i) {
        means[i / kBatch] += series[i] / static_cast<double>(kBatch);
    }
    return means;
}

/// Squared standard errors of the mean of any part of a series, by sums from its beginning.
class PartErrors {
  public:
    explicit PartErrors(const std::vector<double>& values) {
        double mean = 0;
        for (double value : values) mean += value / static_cast<double>(values.size());
        sums_.push_back(0);
        squares_.push_back(0);
        for (double value : values) {
            const double distance = value - mean;
            sums_.push_back(sums_.back() + distance);
            squares_.push_back(squares_.back() + distance * distance);
        }
    }

    /// Of values begin to end - 1.
    double error(std::size_t begin, std::size_t end) const {
        const double n = static_cast<double>(end - begin);
        const double sum = sums_[end] - sums_[begin];
        return std::max(0.0, squares_[end] - squares_[begin] - sum * sum / n) / (n * n);
    }

  private:
    std::vector<double> sums_;
    std::vector<double> squares_;
};

struct Cuts {
    std::size_t begin = 0;  ///< batches before
    std::size_t end = 0;    ///< batches from here on
};

/// The least error with at most half of the batches cut at either side and a tenth kept; of equal ones the
/// longest part.
Cuts best_cuts(const std::vector<double>& means, bool both_sides) {
    const std::size_t count = means.size();
    const PartErrors errors(means);
    const std::size_t fewest = std::max<std::size_t>(2, count / 10);
    Cuts best{0, count};
    double least = errors.error(0, count);
    for (std::size_t begin = 0; begin <= count / 2; ++begin) {
        for (std::size_t end = count; end >= std::max(begin + fewest, count - count / 2); --end) {
            const double error = errors.error(begin, end);
            if (error < least) {
                least = error;
                best = {begin, end};
            }
            if (!both_sides) break;
        }
    }
    return best;
}

}  // namespace

std::size_t mser5_cut(const std::vector<double>& series) {
    const std::vector<double> means = batch_means(series);
    return means.size() < kFewestBatches ? 0 : best_cuts(means, false).begin * kBatch;
}

std::vector<double> active_flows(const std::vector<double>& starts,
                                 const std::vector<double>& finishes, double end,
                                 std::size_t bins) {
    if (starts.size() != finishes.size() || bins == 0 || !(end > 0)) {
        throw InternalError("active_flows: starts and finishes pairwise, bins and an end");
    }
    // Bin i's middle is (i + 1/2) end / bins: a flow is under way from the first middle at or after its
    // start to the last one before its finish.
    const auto first_middle = [&](double time) {
        const double exact = time / end * static_cast<double>(bins) - 0.5;
        return static_cast<std::size_t>(
            std::clamp(std::ceil(exact), 0.0, static_cast<double>(bins)));
    };
    std::vector<double> change(bins + 1, 0.0);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        change[first_middle(starts[i])] += 1;
        change[first_middle(finishes[i])] -= 1;
    }
    for (std::size_t i = 1; i < bins; ++i) change[i] += change[i - 1];
    change.pop_back();
    return change;
}

Window find_window(const std::vector<double>& active, double end) {
    if (active.empty() || !(end > 0)) throw InternalError("find_window: a series and an end");
    Window window{0, end, true, 0, true};
    const std::vector<double> means = batch_means(active);
    if (means.size() < kFewestBatches) return window;
    const Cuts cuts = best_cuts(means, true);
    const double step = end * static_cast<double>(kBatch) / static_cast<double>(active.size());
    window.begin = static_cast<double>(cuts.begin) * step;
    if (cuts.end < means.size()) window.end = static_cast<double>(cuts.end) * step;
    window.ramp_share = 1 - (window.end - window.begin) / end;
    window.mostly_ramps = window.ramp_share > 0.5;
    return window;
}

Window given_window(double warm_up, double cool_down, double end) {
    if (!(warm_up >= 0 && cool_down >= 0 && warm_up + cool_down < end)) {
        throw InternalError("given_window: cuts leave nothing of the trial");
    }
    Window window{warm_up, end - cool_down, false, (warm_up + cool_down) / end, false};
    window.mostly_ramps = window.ramp_share > 0.5;
    return window;
}

std::string describe(const Window& window) {
    if (!window.mostly_ramps) return "";
    if (window.ramp_share == 0) {
        return "the trial is too short to find where its warm-up ends; lengthen it or give the "
               "cuts";
    }
    return fmt::format(
        "{:.0f}% of a trial is warm-up and cool-down: its flows meet a network that is emptier "
        "than a "
        "longer trial's; lengthen the trial",
        100 * window.ramp_share);
}

}  // namespace sluice::eval
