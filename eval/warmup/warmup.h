// SPDX-License-Identifier: Apache-2.0
/// Where a trial's warm-up ends and its cool-down begins (CCEval, section 6.4). A trial starts with an
/// empty network and ends with one; flows in between are what is asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::eval {

/// MSER-5 (White, Simulation 69, 1997): the number of values at the beginning of `series` whose removal
/// minimizes the squared standard error of the mean of the rest, in means of 5; at most half of the
/// series, because the statistic is unreliable near its end. 0 for fewer than 20 values.
std::size_t mser5_cut(const std::vector<double>& series);

/// The series of active flows: how many are under way in the middle of each of `bins` equal parts of
/// [0, end), seconds. Starts and finishes pairwise; a finish may be infinite. Same length and bins >= 1,
/// end > 0, else InternalError.
std::vector<double> active_flows(const std::vector<double>& starts,
                                 const std::vector<double>& finishes, double end, std::size_t bins);

/// The part of a trial whose flows count, seconds.
struct Window {
    double begin = 0;
    double end = 0;
    bool found = false;  ///< by mser5_cut, not given
    /// Share of the trial outside of it.
    double ramp_share = 0;
    /// More than half of the trial is ramps, or it is too short to find them.
    bool mostly_ramps = false;
};

/// Warm-up and cool-down from active flows: MSER-5 on both sides at once, the part whose mean has the least
/// squared standard error. Time grows with the square of the series' length; 1,000 bins are plenty.
Window find_window(const std::vector<double>& active, double end);

/// Cuts that the user gives. InternalError unless 0 <= warm_up, 0 <= cool_down, their sum < end.
Window given_window(double warm_up, double cool_down, double end);

/// A line for people; empty unless mostly_ramps.
std::string describe(const Window& window);

}  // namespace sluice::eval
