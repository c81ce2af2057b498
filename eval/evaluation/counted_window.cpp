// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/counted_window.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"

namespace sluice::eval {

namespace {

constexpr std::size_t kParts = 500;
/// Of all flows; of fewer no trial has something to say.
constexpr double kLeastShare = 0.1;

/// Of a trial's length: flows that all begin at once have no ramps but themselves.
constexpr double kLeastSpread = 0.05;

/// Ramps are those of traffic that begins by itself, bit by bit: a job's flows wait for each other.
bool has_traffic(const TrialRecord& trial) {
    if (trial.jct_s) return false;
    double last_start = 0;
    double last_finish = 0;
    for (const TrialFlow& flow : trial.flows) {
        last_start = std::max(last_start, flow.start_s);
        last_finish = std::max(last_finish, flow.start_s + flow.time_s);
    }
    return last_start > kLeastSpread * last_finish;
}

/// Of a share of a trial's length.
std::size_t part_of(double share) {
    return std::min(static_cast<std::size_t>(share * static_cast<double>(kParts)), kParts - 1);
}

}  // namespace

WindowFinder::WindowFinder(const WindowAim& aim, std::size_t maximum_trials)
    : aim_(aim), wanted_(std::min(kTrials, maximum_trials)) {
    if (!aim.find) counted_ = CountedWindow{aim.warm_up_s, CountedWindow{}.end};
}

void WindowFinder::add(const TrialRecord& trial) {
    if (seen_ == wanted_) return;
    ++seen_;
    if (has_traffic(trial)) {
        std::vector<double> starts;
        std::vector<double> finishes;
        double end = 0;
        for (const TrialFlow& flow : trial.flows) {
            const double finish = flow.start_s + flow.time_s;
            starts.push_back(flow.start_s);
            finishes.push_back(finish);
            if (std::isfinite(finish)) end = std::max(end, finish);
        }
        if (end > 0) {
            const std::vector<double> active = active_flows(starts, finishes, end, kParts);
            active_.resize(kParts);
            begun_.resize(kParts);
            for (std::size_t i = 0; i < kParts; ++i) active_[i] += active[i];
            for (const double start : starts) begun_[part_of(start / end)] += 1;
            length_s_ += end;
        }
    }
    if (seen_ == wanted_) find();
}

void WindowFinder::find() {
    if (active_.empty()) {
        if (aim_.find) counted_ = CountedWindow{};
        return;
    }
    const double length = length_s_ / static_cast<double>(seen_);
    found_ = find_window(active_, length);
    double all = 0;
    double inside = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
        const double at = length * (static_cast<double>(i) + 0.5) / static_cast<double>(kParts);
        all += begun_[i];
        if (at >= found_->begin && at < found_->end) inside += begun_[i];
    }
    if (inside < kLeastShare * all) {
        found_->begin = 0;
        found_->end = length;
        found_->mostly_ramps = true;
    }
    if (aim_.find) counted_ = CountedWindow{found_->begin, found_->end};
}

CountedWindow WindowFinder::counted(const TrialRecord& trial) const {
    if (!counted_) throw InternalError("a window is used before it is found");
    CountedWindow window = *counted_;
    if (aim_.cool_down_s > 0) {
        double last = 0;
        for (const TrialFlow& flow : trial.flows) last = std::max(last, flow.start_s);
        window.end = last - aim_.cool_down_s;
    }
    return window;
}

std::string WindowFinder::text() const {
    std::ostringstream text;
    text.precision(17);
    if (found_) {
        text << found_->begin << ' ' << found_->end << ' ' << found_->ramp_share << ' '
             << found_->mostly_ramps;
    }
    return text.str();
}

void WindowFinder::set_text(const std::string& text) {
    Window window;
    window.found = true;
    std::istringstream words(text);
    if (!(words >> window.begin >> window.end >> window.ramp_share >> window.mostly_ramps)) return;
    found_ = window;
    seen_ = wanted_;
    if (aim_.find) counted_ = CountedWindow{window.begin, window.end};
}

}  // namespace sluice::eval
