// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/trajectory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sluice::hybrid {

namespace {

/// After so many, for ever. No more are recorded.
constexpr Tick kSteady = 256;
/// What settles, after so many of its own, if the mean of its flows' rates has moved by no more than this part of it in the last
/// quarter.
constexpr double kMeanMoves = 0.002;
constexpr double kAloneMoves = 0.0005;  ///< of a flow alone
constexpr double kOneMoves = 0.01;      ///< the same of a single flow whose rate does not converge
/// What a flow alone does from this step on, it goes on to do.
constexpr std::size_t kLate = 24;

bool differ_little(double before, double after, double most) {
    return std::abs(after - before) <= most * before;
}

}  // namespace

Tick Trajectory::reach() const {
    std::size_t steps = advances(0);
    for (std::size_t f = 0; f < flows(); ++f) {
        steps = std::min({steps, advances(f), laws(f)});
    }
    return static_cast<Tick>(steps) * step_;
}

bool Trajectory::is_complete() const {
    const Tick steps = reach() / step_;
    return steps >= kSteady || (settles() && steps >= settling_.steps && has_settled());
}

void Trajectory::halve() {
    for (std::vector<float>& all : advance_) {
        for (std::size_t i = 2; i < all.size(); i += 2) {
            all[i / 2] = all[i];
        }
        all.resize((all.size() + 1) / 2);
    }
    const auto keep_second = [](auto& all) {
        for (std::size_t i = 1; i < all.size(); i += 2) {
            all[i / 2] = all[i];
        }
        all.resize(all.size() / 2);
    };
    for (std::size_t flow = 0; flow < flows(); ++flow) {
        keep_second(law_[flow]);
        keep_second(stage_[flow]);
    }
    step_ *= 2;
}

/// Of a flow alone: what is known of its law and of its advance ends together. Returns after how many steps.
std::size_t Trajectory::cut_to_steps() {
    const auto steps = static_cast<std::size_t>(reach() / step_);
    advance_[0].resize(steps + 1);
    law_[0].resize(steps);
    stage_[0].resize(steps);
    return steps;
}

void Trajectory::go_on_as(const Trajectory& other) {
    const Tick known = static_cast<Tick>(cut_to_steps()) * step_;
    const double ahead =
        static_cast<double>(advance_[0].back()) - other.advance(0, static_cast<double>(known));
    const Tick last = std::max(other.reach(), settling_.steps * step_);
    for (Tick age = known + step_; age < last + step_; age += step_) {
        const auto at = static_cast<double>(age);
        add_advance(0, other.advance(0, at) + ahead);
        add_law(0, other.law(0, at), other.stage(0, at));
    }
}

void Trajectory::go_on_by(double slope) {
    std::size_t steps = cut_to_steps();
    const std::size_t quarter = steps / 4;
    for (; static_cast<Tick>(steps) < settling_.steps; ++steps) {
        add_advance(0, static_cast<double>(advance_[0].back()) + slope);
        add_law(0, law_[0][steps - quarter], stage_[0][steps - quarter]);
    }
}

void Trajectory::add_to(LateSteps& late) const {
    const auto last = static_cast<std::size_t>(reach() / step_);
    if (last < kSettled) {
        return;
    }
    const std::size_t middle = (kLate + last) / 2;
    const auto between = [this](std::size_t first, std::size_t end) {
        return static_cast<double>(advance_[0][end]) - static_cast<double>(advance_[0][first]);
    };
    late.first_steps += static_cast<double>(middle - kLate);
    late.first_advance += between(kLate, middle);
    late.steps += static_cast<double>(last - kLate);
    late.advance += between(kLate, last);
}

bool LateSteps::have_settled(Tick settles) const {
    return first_steps > 0 && 4 * steps >= static_cast<double>(settles) &&
           differ_little(first_advance / first_steps,
                         (advance - first_advance) / (steps - first_steps), kAloneMoves);
}

/// Advance per step, between two steps.
double Trajectory::slope(std::size_t flow, std::size_t first, std::size_t last) const {
    const std::vector<float>& all = advance_[flow];
    return (static_cast<double>(all[last]) - static_cast<double>(all[first])) /
           static_cast<double>(last - first);
}

/// Of its law's rate, between two steps.
double Trajectory::mean_law(std::size_t flow, std::size_t first, std::size_t last) const {
    const auto begin = law_[flow].begin();
    return std::accumulate(begin + static_cast<std::ptrdiff_t>(first),
                           begin + static_cast<std::ptrdiff_t>(last), 0.0) /
           static_cast<double>(last - first);
}

/// Flows whose rates converge.
std::size_t Trajectory::converging() const {
    return static_cast<std::size_t>(std::count(keeps_rate_.begin(), keeps_rate_.end(), false));
}

/// Of these.
double Trajectory::mean_slope(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t flow = 0; flow < flows(); ++flow) {
        sum += keeps_rate_[flow] ? 0 : slope(flow, first, last);
    }
    return sum / static_cast<double>(converging());
}

/// The mean of rates that converge has moved by no more than this part of it in the last quarter.
bool Trajectory::moves_little(double part) const {
    const auto last = static_cast<std::size_t>(reach() / step_);
    return differ_little(mean_slope(last / 2, last * 3 / 4), mean_slope(last * 3 / 4, last), part);
}

bool Trajectory::has_settled() const {
    const auto last = static_cast<std::size_t>(reach() / step_);
    bool settled = converging() == 0 || moves_little(flows() == 1 ? kAloneMoves : kMeanMoves);
    // While the NIC is the bottleneck, a flow's rate does not show that its law still lowers the window.
    for (std::size_t flow = 0; flow < flows() && settled; ++flow) {
        settled =
            !keeps_rate_[flow] || (differ_little(slope(flow, last / 2, last * 3 / 4),
                                                 slope(flow, last * 3 / 4, last), kOneMoves) &&
                                   differ_little(mean_law(flow, last / 2, last * 3 / 4),
                                                 mean_law(flow, last * 3 / 4, last), kOneMoves));
    }
    return settled;
}

Tick Trajectory::extended_reach() const {
    const Tick known = reach();
    if ((flows() == 1 || settles()) && is_complete()) {
        return kNever / 4;
    }
    // What has settled goes on for another eighth.
    const bool settled = (flows() == 1 || is_large(flows())) && known >= kSettled * step_;
    return known + 2 * step_ + (settled ? known / 8 : 0);
}

/// Advance per step, in the later half of what is recorded. A rate that stays is taken from the last quarter: it may have moved
/// before. So is the rate of a small group that has not been recorded for long, as its laws may still change it.
double Trajectory::last_slope(std::size_t flow) const {
    const std::size_t last = advance_[flow].size() - 1;
    const bool is_early = !is_large(flows()) && !is_complete();
    const std::size_t part = keeps_rate_[flow] || is_early ? last / 4 : last / 2;
    const std::size_t fewest = is_early ? 2 : 4;
    const std::size_t over = std::min(last, std::max(part, fewest));
    return over == 0 ? 0 : slope(flow, last - over, last);
}

/// The mean of the last slopes of flows whose rates converge.
double Trajectory::settled_slope() const {
    const auto steps = std::make_pair(advances(0), advances(flows() - 1));
    if (settled_at_ != steps) {
        settled_at_ = steps;
        settled_ = 0;
        const auto count = static_cast<double>(converging());
        for (std::size_t flow = 0; flow < flows(); ++flow) {
            settled_ += keeps_rate_[flow] ? 0 : last_slope(flow) / count;
        }
    }
    return settled_;
}

/// So long after its end.
double Trajectory::advance_beyond(std::size_t flow, double time) const {
    const auto step = static_cast<double>(step_);
    const double last = last_slope(flow);
    if (!(settling_.convergence > 0) || keeps_rate_[flow]) {
        return last * time / step;
    }
    const double mean = settled_slope();
    // The later half's mean is that of a quarter before the end.
    const double quarter = static_cast<double>(advances(flow)) * step / 4;
    const double excess = (last - mean) * std::exp(-quarter / settling_.convergence);
    return (mean * time +
            excess * settling_.convergence * (1 - std::exp(-time / settling_.convergence))) /
           step;
}

double Trajectory::advance(std::size_t flow, double age) const {
    const std::vector<float>& all = advance_[flow];
    const double at = age / static_cast<double>(step_);
    const auto last = static_cast<double>(all.size() - 1);
    if (at >= last) {
        return all.back() + advance_beyond(flow, age - last * static_cast<double>(step_));
    }
    const auto before = static_cast<std::size_t>(at);
    const double from = all[before];
    return from + (at - static_cast<double>(before)) * (all[before + 1] - from);
}

/// The step whose end is nearest, from 0; there is one.
std::size_t Trajectory::law_at(std::size_t flow, double age) const {
    const double place = std::max(std::round(age / static_cast<double>(step_)) - 1, 0.0);
    return static_cast<std::size_t>(std::min(place, static_cast<double>(law_[flow].size() - 1)));
}

double Trajectory::law(std::size_t flow, double age) const {
    return law_[flow].empty() ? 1 : law_[flow][law_at(flow, age)];
}

/// Beyond the end it is one of those of the last quarter.
std::int64_t Trajectory::stage(std::size_t flow, double age) const {
    const std::vector<std::uint8_t>& all = stage_[flow];
    if (all.empty()) {
        return 0;
    }
    const double beyond = age / static_cast<double>(step_) - static_cast<double>(all.size());
    const std::size_t last = law_at(flow, age);
    const auto back = beyond > 0 ? static_cast<std::uint64_t>(beyond) % (all.size() / 4 + 1) : 0;
    return all[last - back];
}

double Trajectory::age_at(std::size_t flow, double advance) const {
    const std::vector<float>& all = advance_[flow];
    const auto step = static_cast<double>(step_);
    const auto found = std::lower_bound(all.begin(), all.end(), advance);
    if (found == all.begin()) {
        return 0;
    }
    if (found == all.end()) {
        return static_cast<double>(all.size() - 1) * step +
               time_beyond(flow, advance - static_cast<double>(all.back()));
    }
    const double before = *(found - 1);
    const double part = (advance - before) / (*found - before);
    return (static_cast<double>(found - all.begin() - 1) + part) * step;
}

/// In which it comes to so much more.
double Trajectory::time_beyond(std::size_t flow, double more) const {
    constexpr int kRounds = 4;  // rates come to their mean in a time that is long
    const double slope = last_slope(flow);
    double time = slope > 0 ? more / slope * static_cast<double>(step_)
                            : std::numeric_limits<double>::infinity();
    for (int round = 0; settling_.convergence > 0 && !keeps_rate_[flow] && round < kRounds &&
                        std::isfinite(time) && time > 0;
         ++round) {
        time *= more / advance_beyond(flow, time);
    }
    return time;
}

}  // namespace sluice::hybrid
