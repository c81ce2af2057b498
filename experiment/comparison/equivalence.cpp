// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/equivalence.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/results/student_t.h"

namespace sluice {

namespace {

constexpr double kOneSided = 0.95;  ///< of each of the two tests
constexpr double kPower = 0.8;      ///< at which pairs_needed is counted

struct Moments {
    double mean = 0;
    double sd = 0;
};

Moments moments_of(const std::vector<double>& values) {
    Moments moments;
    const auto n = static_cast<double>(values.size());
    for (const double value : values) moments.mean += value / n;
    if (values.size() < 2) return moments;
    double squares = 0;
    for (const double value : values) squares += (value - moments.mean) * (value - moments.mean);
    moments.sd = std::sqrt(squares / (n - 1));
    return moments;
}

double standard_error(double sd, std::size_t pairs) {
    return sd / std::sqrt(static_cast<double>(pairs));
}

/// The least n that moves the interval's end off the margin, and by what a mean of n pairs scatters
/// besides.
std::optional<std::size_t> pairs_to_settle(const Moments& moments, double margin,
                                           std::size_t pairs) {
    const double room = std::abs(margin - std::abs(moments.mean));
    const auto settles = [&](std::size_t n) {
        return (student_t_quantile(kOneSided, n - 1) + student_t_quantile(kPower, n - 1)) *
                   standard_error(moments.sd, n) <
               room;
    };
    if (!settles(kMostPairs)) return std::nullopt;
    std::size_t too_few = pairs;
    std::size_t enough = kMostPairs;
    while (enough - too_few > 1) {
        const std::size_t middle = (too_few + enough) / 2;
        (settles(middle) ? enough : too_few) = middle;
    }
    return enough;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::equivalent: return "equivalent";
        case Verdict::biased: return "biased";
        case Verdict::not_resolved: break;
    }
    return "not resolved";
}

Equivalence test_equivalence(const std::vector<std::pair<double, double>>& pairs, double margin) {
    if (pairs.size() < 2 || !(margin > 0)) {
        throw InternalError("a test of equivalence needs two pairs and a margin");
    }
    std::vector<double> differences;
    differences.reserve(pairs.size());
    for (const auto& [reference, value] : pairs) {
        if (!(reference > 0 && value > 0)) {
            throw InternalError("a test of equivalence of what is not positive");
        }
        differences.push_back(std::log(value / reference));
    }
    const Moments moments = moments_of(differences);
    const double half =
        student_t_quantile(kOneSided, pairs.size() - 1) * standard_error(moments.sd, pairs.size());
    const double low = moments.mean - half;
    const double high = moments.mean + half;
    const double limit = std::log1p(margin);
    Equivalence result;
    result.pairs = pairs.size();
    result.bias = std::expm1(moments.mean);
    result.low = std::expm1(low);
    result.high = std::expm1(high);
    result.sd = moments.sd;
    result.margin = margin;
    if (low > -limit && high < limit) {
        result.verdict = Verdict::equivalent;
    } else if (low >= limit || high <= -limit) {
        result.verdict = Verdict::biased;
    } else {
        result.pairs_needed = pairs_to_settle(moments, limit, pairs.size());
    }
    return result;
}

double log_deviation(const std::vector<double>& values) {
    std::vector<double> logs;
    logs.reserve(values.size());
    for (const double value : values) logs.push_back(std::log(value));
    return moments_of(logs).sd;
}

}  // namespace sluice
