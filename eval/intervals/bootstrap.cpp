// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "eval/intervals/distributions.h"
#include "eval/intervals/quantile.h"

namespace sluice::eval {
namespace {

constexpr std::uint64_t kBootstrapPurpose = 0x6263616273747270ULL;

/// Efron's acceleration: a sixth of the skewness of the jackknife's influence values.
double acceleration(const std::vector<double>& values, const Statistic& statistic) {
    std::vector<double> without(values.begin() + 1, values.end());
    std::vector<double> left;
    double mean = 0;
    for (std::size_t i = 0;; ++i) {
        left.push_back(statistic(without));
        mean += left.back();
        if (i == without.size()) break;
        without[i] = values[i];
    }
    mean /= static_cast<double>(left.size());
    double squares = 0;
    double cubes = 0;
    for (double value : left) {
        const double u = mean - value;
        squares += u * u;
        cubes += u * u * u;
    }
    return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

}  // namespace

Interval bca_interval(const std::vector<double>& values, const Statistic& statistic,
                      const BootstrapSettings& settings) {
    check_confidence(settings.confidence);
    if (values.size() < 2 || values.size() > 0xffffffffULL || settings.resamples < 100) {
        throw InternalError("a bootstrap needs at least two values and 100 resamples");
    }
    const double estimate = statistic(values);
    const auto n = static_cast<std::uint32_t>(values.size());
    std::vector<double> sample(values.size());
    std::vector<double> results(settings.resamples);
    double below = 0;
    for (std::size_t r = 0; r < settings.resamples; ++r) {
        const std::uint64_t stream = random_stream(kBootstrapPurpose, r);
        for (std::size_t i = 0; i < sample.size(); ++i) {
            sample[i] = values[uniform_below(settings.seed, stream, i, n)];
        }
        results[r] = statistic(sample);
        below += results[r] < estimate ? 1 : (results[r] == estimate ? 0.5 : 0);
    }
    std::sort(results.begin(), results.end());
    if (results.front() == results.back()) {
        return {estimate, results.front(), results.back(), settings.confidence};
    }
    const double count = static_cast<double>(settings.resamples);
    const double bias = normal_quantile(std::clamp(below / count, 0.5 / count, 1 - 0.5 / count));
    const double skew = acceleration(values, statistic);
    const auto end = [&](double probability) {
        const double z = bias + normal_quantile(probability);
        const double share = normal_cdf(bias + z / std::max(1e-9, 1 - skew * z));
        return quantile_of_sorted(results, std::clamp(share, 0.5 / count, 1 - 0.5 / count));
    };
    const double miss = (1 - settings.confidence) / 2;
    return {estimate, end(miss), end(1 - miss), settings.confidence};
}

}  // namespace sluice::eval
