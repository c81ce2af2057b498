// SPDX-License-Identifier: Apache-2.0
#include "core/audit/estimate.h"

#include <algorithm>
#include <cmath>

#include "core/results/student_t.h"

namespace sluice::audit {

namespace {

/// Of the interval's upper end.
constexpr double kProbability = 0.975;

}  // namespace

void StratifiedRatio::add(int stratum, std::uint64_t cluster, double measured, double known) {
    Sums& sums = strata_[stratum].clusters[cluster];
    names_.insert(cluster);
    sums.measured += measured;
    sums.known += known;
}

void StratifiedRatio::Stratum::join(const Stratum& other) {
    all += other.all;
    unseen += other.unseen;
    for (const auto& [cluster, sums] : other.clusters) {
        clusters[cluster].measured += sums.measured;
        clusters[cluster].known += sums.known;
    }
}

/// What is known of all, as those that were drawn have it.
double StratifiedRatio::Stratum::drawn() const {
    double sum = 0;
    for (const auto& [cluster, sums] : clusters) {
        sum += sums.known;
    }
    return sum;
}

double StratifiedRatio::known() const {
    double sum = 0;
    for (const auto& [number, stratum] : strata_) {
        sum += stratum.all;
    }
    return sum;
}

double StratifiedRatio::measured() const {
    double sum = 0;
    for (const auto& [number, stratum] : strata_) {
        for (const auto& [cluster, sums] : stratum.clusters) {
            sum += sums.measured;
        }
    }
    return sum;
}

/// Neighbours until each has clusters enough; what is left over joins the last.
std::vector<StratifiedRatio::Stratum> StratifiedRatio::joined() const {
    std::vector<Stratum> made;
    Stratum open;
    for (const auto& [number, stratum] : strata_) {
        open.join(stratum);
        open.unseen += stratum.clusters.empty() ? stratum.all : 0;
        if (open.clusters.size() >= kFewest && open.drawn() >= kLeastKnown * open.all) {
            made.push_back(open);
            open = Stratum{};
        }
    }
    if (made.empty()) {
        made.push_back(open);
    } else {
        made.back().join(open);
    }
    return made;
}

Interval StratifiedRatio::total() const {
    Interval made;
    double variance = 0;
    double by_freedom = 0;
    double unseen = 0;
    double largest = 0;  // ratio that there may be
    for (const Stratum& stratum : joined()) {
        double measured = 0;
        double known = 0;
        double squares = 0;
        for (const auto& [cluster, sums] : stratum.clusters) {
            measured += sums.measured;
            known += sums.known;
            squares += sums.known * sums.known;
        }
        const double ratio = measured / known;
        made.mean += ratio * stratum.all;
        double residuals = 0;
        for (const auto& [cluster, sums] : stratum.clusters) {
            const double residual = sums.measured - ratio * sums.known;
            residuals += residual * residual;
        }
        const auto count = static_cast<double>(stratum.clusters.size());
        const double factor = stratum.all / known;
        unseen += stratum.unseen;
        const double own = count / (count - 1) * residuals * factor * factor;
        variance += own;
        largest = std::max(largest, std::abs(ratio) + 2 * std::sqrt(own) / stratum.all);
        by_freedom += own * own / std::max(known * known / squares - 1, 1.0);
    }
    const double freedom = by_freedom > 0 ? std::max(variance * variance / by_freedom, 1.0) : 1.0;
    made.half =
        student_t_quantile(kProbability, static_cast<std::size_t>(freedom)) * std::sqrt(variance) +
        largest * unseen;
    return made;
}

}  // namespace sluice::audit
