// SPDX-License-Identifier: Apache-2.0
/// Where a trial's warm-up ends and its cool-down begins (CCEval, section 6.4). A trial starts with an empty network and
/// ends with one; flows in between are what is asked for.
#pragma once

#include <string>
#include <vector>

namespace sluice::eval {

/// The part of a trial whose flows count, seconds.
struct Window {
    double begin = 0;
    double end = 0;
    /// Of the time in which flows begin, what is cut from it.
    double ramp_share = 0;
    /// Ramps take more than half: flows meet a network that is emptier than a longer trial's.
    bool mostly_ramps = false;
};

/// The share of its lasting number of active flows at which a network counts as full.
inline constexpr double kSettled = 0.9;

/// How long it takes until as many flows are under way as ever, in flows' own times: a network of independent flows of
/// these completion times that starts empty has E[min(S, t)] / E[S] of its lasting number at t (M/G/infinity; Takacs,
/// Introduction to the Theory of Queues, 1962), which is kSettled at the time returned. Rests on the mean of all times,
/// not on a series of few active flows, in which chance looks like a plateau. Times are positive and at least one, else
/// InternalError.
double ramp_length(std::vector<double> times);

/// Of trials in which flows begin in [0, arrivals): cut by one ramp at the beginning, and by one at the end, where flows
/// that begin late see others end and none follow. Where ramps meet, nothing is cut.
Window find_window(const std::vector<double>& times, double arrivals);

/// A line for people; empty unless mostly_ramps.
std::string describe(const Window& window);

}  // namespace sluice::eval
