// SPDX-License-Identifier: Apache-2.0
/// Facts that nearly agree are one: cables differ by centimetres, and what laws derive from round trips with them. Whatever the
/// classes, some fact would be at the edge of one. So there are none: the first fact that is met stands for those near it.
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
