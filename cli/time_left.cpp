// SPDX-License-Identifier: Apache-2.0
#include "cli/time_left.h"

#include <algorithm>

namespace sluice {

namespace {

/// What counts as recent: a part of the time so far, and so many seconds at least.
constexpr double kPart = 1.0 / 3;
constexpr double kShortest = 2;

}  // namespace

void TimeLeft::note(double seconds, double share) {
    if (points_.empty()) points_.push_back({});
    points_.push_back({seconds, share});
    const double since = seconds - std::max(kShortest, seconds * kPart);
    while (points_.size() > 2 && points_[1].seconds <= since) points_.pop_front();
}

std::optional<double> TimeLeft::seconds() const {
    if (points_.size() < 2) return std::nullopt;
    const Point& first = points_.front();
    const Point& last = points_[points_.size() - 1];
    if (last.share <= first.share) return std::nullopt;
    return (1 - last.share) * (last.seconds - first.seconds) / (last.share - first.share);
}

}  // namespace sluice
