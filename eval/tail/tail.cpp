// SPDX-License-Identifier: Apache-2.0
#include "eval/tail/tail.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/intervals/moments.h"

namespace sluice::eval {
namespace {

constexpr std::size_t kFewest = 50;
constexpr double kOneSided = 1.645;  // 95% quantile of the normal distribution
constexpr double kSkewness = 0.65;   // bench/eval/coverage measures what this catches

/// Hill, Ann. Statist. 3, 1975, of `distances`, the `order` + 1 largest first.
double hill_index(const std::vector<double>& distances, std::size_t order) {
    const double threshold = distances[order];
    if (!(threshold > 0)) return 0;
    double sum = 0;
    for (std::size_t i = 0; i < order; ++i) sum += std::log(distances[i] / threshold);
    return sum > 0 ? static_cast<double>(order) / sum : std::numeric_limits<double>::infinity();
}

/// Distances from the median, of the values on the side that the skewness points to.
std::vector<double> distances(std::vector<double> values, double skewness, std::size_t order) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double median = *middle;
    for (double& value : values) {
        value = std::max(0.0, skewness < 0 ? median - value : value - median);
    }
    std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(order + 1),
                      values.end(), std::greater<double>());
    return values;
}

}  // namespace

TailReport examine_tail(const std::vector<double>& values) {
    TailReport report;
    if (values.empty()) return report;
    const Moments moments(values);
    const double n = static_cast<double>(values.size());
    double sum = 0;
    double largest = 0;
    double farthest = 0;
    for (double value : values) {
        sum += std::fabs(value);
        largest = std::max(largest, std::fabs(value));
        farthest = std::max(farthest, std::fabs(value - moments.mean()));
    }
    report.unseen_below = std::min(1.0, 3 / n);
    report.largest_share = sum > 0 ? largest / sum : 0;
    report.skewness_of_mean = std::fabs(moments.skewness()) / std::sqrt(n);
    if (moments.standard_error() > 0)
        report.influence = farthest / (n - 1) / moments.standard_error();
    if (values.size() < kFewest) return report;
    const auto wanted = static_cast<std::size_t>(std::lround(2 * std::sqrt(n)));
    report.order = std::min(wanted, values.size() / 5);
    report.hill_index =
        hill_index(distances(values, moments.skewness(), report.order), report.order);
    const double limit = 2 * (1 + kOneSided / std::sqrt(static_cast<double>(report.order)));
    const bool heavy =
        report.hill_index < limit && report.skewness_of_mean > kSkewness * std::pow(n, -0.25);
    report.verdict = heavy ? TailVerdict::Heavy : TailVerdict::Light;
    return report;
}

std::string describe(const TailReport& report) {
    switch (report.verdict) {
        case TailVerdict::Light: return "";
        case TailVerdict::TooFew:
            return fmt::format("too few trials to judge the tail (at least {})", kFewest);
        case TailVerdict::Heavy: break;
    }
    return fmt::format(
        "heavy tail: index {:.2f} from the {} largest values (below 2 the variance is infinite), "
        "the "
        "largest is {:.1f}% of the sum and moves the mean by {:.1f} standard errors; the interval "
        "may be "
        "too narrow",
        report.hill_index, report.order, 100 * report.largest_share, report.influence);
}

}  // namespace sluice::eval
