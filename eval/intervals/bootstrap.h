// SPDX-License-Identifier: Apache-2.0
/// BCa bootstrap (bias-corrected and accelerated; Efron, J. Am. Statist. Assoc. 82, 1987), for comparison
/// and for statistics without an interval of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "eval/intervals/interval.h"

namespace sluice::eval {

using Statistic = std::function<double(const std::vector<double>&)>;

struct BootstrapSettings {
    double confidence = 0.95;
    std::size_t resamples = 2000;
    /// Draw i of resample r is a pure function of (seed, r, i) (core/random.h).
    std::uint64_t seed = 1;
};

/// The statistic is called resamples + N + 1 times. At least two values, 100 resamples, fewer than 2^32
/// values, else InternalError. Where all resamples agree the interval is a point.
Interval bca_interval(const std::vector<double>& values, const Statistic& statistic,
                      const BootstrapSettings& settings = {});

}  // namespace sluice::eval
