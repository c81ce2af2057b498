// SPDX-License-Identifier: Apache-2.0
/// Groups whose round trips differ by centimetres of cable are of one kind. Were round trips rounded, those near the edge of a class
/// would fall on both sides. So the first one that is met stands for all that are near it (leader clustering; Hartigan, 1975).
#pragma once

#include <cstdint>
#include <iterator>
#include <set>

namespace sluice::hybrid {

class NearFacts {
  public:
    /// Facts that differ by no more than this part of one of them are near it.
    static constexpr double kNear = 0.001;

    /// What stands for `fact`: the nearest that is known. If none is near, the fact itself, which is known from now on.
    std::int64_t stand_in(std::int64_t fact) {
        const auto above = known_.lower_bound(fact);
        std::int64_t best = fact;
        double least = kNear;
        const auto consider = [&](std::int64_t known) {
            const double far = static_cast<double>(known < fact ? fact - known : known - fact) /
                               static_cast<double>(known);
            if (known > 0 && far <= least) {
                best = known;
                least = far;
            }
        };
        if (above != known_.end()) {
            consider(*above);
        }
        if (above != known_.begin()) {
            consider(*std::prev(above));
        }
        known_.insert(best);
        return best;
    }
    void add(std::int64_t fact) { known_.insert(fact); }
    const std::set<std::int64_t>& known() const { return known_; }

  private:
    std::set<std::int64_t> known_;
};

}  // namespace sluice::hybrid
