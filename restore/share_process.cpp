// SPDX-License-Identifier: Apache-2.0
#include "restore/share_process.h"

#include <algorithm>
#include <cmath>

#include "restore/fixed_math.h"

namespace sluice::restore {

namespace {

// What was learned from, and what is said of the rest: as of its edge.
constexpr double kLeastPackets = 1.5;
constexpr double kMostPackets = 1000;
constexpr double kMostFlows = 32;
constexpr double kMostHundreds = 4;  // Gb/s
constexpr double kLn2 = 0.6931471805599453;

double exp_of(double x) {
    return x <= 0 ? static_cast<double>(fixed_exp(static_cast<float>(x)))
                  : 1 / static_cast<double>(fixed_exp(static_cast<float>(-x)));
}

/// Sum of coefficient x term.
template <std::size_t kCount>
double weighed(const std::array<double, kCount>& coefficients,
               const std::array<double, kCount>& terms) {
    double sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
        sum += coefficients[i] * terms[i];
    }
    return sum;
}

// By bench/restore/shares --fit.
constexpr ShareCoefficients kHpcc = {
    {-1.8755, -0.3373, -1.7872, 1.1116, 1.4934, 1.1210, 0.0063, 0.0268, 0.0195, 0.6984, 0.2480,
     0.0487},
    {-4.7524, -0.6105, 0.6219, -0.5524, -0.4523, -0.0927, 0.1868, 0.0426, -0.0992, -0.0335},
    0.7727,
    -3.9212,
    -1.2106};

}  // namespace

const ShareCoefficients* learned_shares(congestion::Law law) {
    return law == congestion::Law::hpcc ? &kHpcc : nullptr;
}

double packets_per_flow(const hybrid::SharePast& flow) {
    const double packets =
        flow.line * static_cast<double>(flow.base_rtt) / static_cast<double>(flow.flows);
    return std::min(std::max(packets, kLeastPackets), kMostPackets);
}

ShareProcess share_process(const hybrid::SharePast& flow, const congestion::Parameters& law,
                           const ShareCoefficients& learned) {
    constexpr double kLeastShare = 0.02;
    constexpr double kLeastDistance = 0.03;
    constexpr double kBitsPerByteAndSecond = 8e12;
    const double flows = static_cast<double>(flow.flows);
    const double ln_packets = fixed_log2(packets_per_flow(flow)) * kLn2;
    const double p = ln_packets / kLn2 / 4;
    const double n = fixed_log2(std::min(flows, kMostFlows)) / 3;
    const double step = static_cast<double>(law.hpcc.additive_rate) / kBitsPerByteAndSecond /
                        static_cast<double>(law.payload);
    const double bits_per_second =
        flow.line * kBitsPerByteAndSecond * static_cast<double>(law.payload);
    const double r = fixed_log2(std::min(std::max(bits_per_second / 1e11, 1.0), kMostHundreds));
    ShareProcess process;
    process.share = flow.fair > 0 ? flow.rate / flow.fair : 1;
    const double v = fixed_log2(std::max(std::abs(process.share - 1), kLeastDistance)) / 3 + 1;
    const double part =
        weighed(learned.pull, {1, p, n, p * p, p * n, n * n, r, r * p, v, v * p, v * n, v * r});
    process.pull = step * flows / flow.line / (1 + exp_of(-part));
    const double scale = fixed_log2(std::max(process.share, kLeastShare)) * kLn2;
    process.noise =
        exp_of(weighed(learned.noise, {1, p, n, p * p, p * n, n * n, r, r * p, r * n, r * r}) +
               learned.exponent * scale);
    process.start = exp_of(learned.start + learned.start_slope * ln_packets);
    return process;
}

ShareForecast forecast(const ShareProcess& process, double trips) {
    constexpr double kSmall = 0.1;
    const double a = process.pull * trips;
    const double kept = exp_of(-a);
    // Of the mean, and variances over noise^2 trips; where a is small by their series, as exp_of() has
    // seven digits.
    double mean_kept = 1 - a / 2 + a * a / 6 - a * a * a / 24;
    double mean_variance =
        1.0 / 3 - a / 4 + 7 * a * a / 60 - a * a * a / 24 + 31 * a * a * a * a / 2520;
    if (a > kSmall) {
        const double lost = 1 - kept;
        mean_kept = lost / a;
        mean_variance = (a - 2 * lost + (1 - kept * kept) / 2) / (a * a * a);
    }
    const double end_variance = mean_kept * (1 + kept) / 2;
    const double covariance = mean_kept * mean_kept / 2;
    const double unit = process.noise * process.noise * trips;
    const double error = process.start * process.start;
    ShareForecast result;
    result.mean = 1 + (process.share - 1) * mean_kept;
    result.end = 1 + (process.share - 1) * kept;
    result.mean_sd = std::sqrt(unit * std::max(mean_variance, 0.0) + error);
    result.end_sd = std::sqrt(unit * end_variance + error);
    const double sds = result.mean_sd * result.end_sd;
    result.correlation = sds > 0 ? std::min((unit * covariance + error) / sds, 1.0) : 1;
    return result;
}

}  // namespace sluice::restore
