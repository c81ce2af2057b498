// SPDX-License-Identifier: Apache-2.0
/// What share_study fits and judges: flows of one crowd at an instant, and what they had of their port from
/// there on, drawn from recorded series (bench/steady/record).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/steady/series.h"
#include "core/congestion/types.h"
#include "core/hybrid/share_restorer.h"

namespace sluice::share_bench {

/// Shares are of the fair one: 1 is fair.
struct ShareCase {
    hybrid::SharePast past;
    double trips = 0;   ///< of the skip, base round trips
    double before = 0;  ///< over the last four round trips: what is held today
    double mean = 0;    ///< over the skip
    double end = 0;     ///< by the laws' rates, where it ends
    double pull =
        0;  ///< of an Ornstein-Uhlenbeck process fitted to the last 32 times 4 round trips
    double noise = 0;  ///< the same
};

/// Cases of one crowd at one instant, one for each flow.
using Crowd = std::vector<ShareCase>;

/// About `most` instants of a series per crowd in it that has one port to share, by counter from `name`.
std::vector<Crowd> draw_crowds(const steady_bench::Series& series, const std::string& name,
                               int most);

}  // namespace sluice::share_bench
