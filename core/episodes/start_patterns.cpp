// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/start_patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sluice::hybrid {

namespace {

/// Mean difference of starts, of a flow's time, that makes none.
constexpr double kAlike = 0.002;
/// Samples are this much like each other, but for one in ten. What wanders off is always among the last.
constexpr double kUsual = 0.9;
/// Farther off is new.
constexpr double kNovel = 1;
/// Of fewer samples nobody can say what is usual.
constexpr std::size_t kEnough = 10;

void centre(std::vector<double>& starts) {
    const double mean =
        std::accumulate(starts.begin(), starts.end(), 0.0) / static_cast<double>(starts.size());
    for (double& start : starts) {
        start -= mean;
    }
}

/// Keeps the least ones of `nearest`, which ascends, and `distance`.
template <class Distances>
void take_in(Distances& nearest, double distance) {
    if (distance < nearest.back()) {
        nearest.back() = distance;
        std::inplace_merge(nearest.begin(), nearest.end() - 1, nearest.end());
    }
}

}  // namespace

/// Of a flow's time.
double StartPatterns::distance(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += std::abs(a[i] - b[i]);
    }
    return sum / static_cast<double>(a.size()) / time_;
}

void StartPatterns::add(std::vector<double> starts, double time) {
    if (patterns_.empty()) {
        time_ = time;
    }
    Pattern made;
    made.starts = std::move(starts);
    made.nearest.fill(std::numeric_limits<double>::infinity());
    centre(made.starts);
    for (Pattern& pattern : patterns_) {
        const double apart = distance(pattern.starts, made.starts);
        take_in(pattern.nearest, apart);
        take_in(made.nearest, apart);
    }
    patterns_.push_back(std::move(made));
}

double StartPatterns::radius() const {
    if (patterns_.size() < kEnough) {
        return 0;
    }
    std::vector<double> apart;
    for (const Pattern& pattern : patterns_) {
        apart.push_back(pattern.nearest.back());
    }
    const auto usual =
        apart.begin() + static_cast<std::ptrdiff_t>(kUsual * static_cast<double>(apart.size()));
    std::nth_element(apart.begin(), usual, apart.end());
    return *usual;
}

std::vector<std::size_t> StartPatterns::like(std::vector<double> starts,
                                             const std::vector<std::uint32_t>& seen) const {
    centre(starts);
    std::vector<double> apart;
    for (const Pattern& pattern : patterns_) {
        apart.push_back(distance(pattern.starts, starts));
    }
    std::vector<std::size_t> nearest(patterns_.size());
    std::iota(nearest.begin(), nearest.end(), 0);
    std::sort(nearest.begin(), nearest.end(),
              [&](std::size_t a, std::size_t b) { return apart[a] < apart[b]; });
    const double usual = std::max(radius(), kAlike);
    std::uint32_t count = 0;
    std::size_t found = 0;
    while (found < nearest.size() && apart[nearest[found]] <= usual) {
        count += seen[nearest[found]];
        ++found;
    }
    nearest.resize(count < kNearest ? 0 : found);
    return nearest;
}

}  // namespace sluice::hybrid
