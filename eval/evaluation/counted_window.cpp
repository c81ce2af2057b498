// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/counted_window.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"

namespace sluice::eval {

namespace {

/// Of a trial's length: flows that all begin at once have no ramps but themselves.
constexpr double kLeastSpread = 0.05;

/// What is written down where no window is found.
constexpr const char* kNothing = "none";

/// When the last flow begins, if flows begin by themselves, bit by bit: a job's wait for each other. Else 0.
double arrivals_of(const TrialRecord& trial) {
    if (trial.jct_s) return 0;
    double last_start = 0;
    double last_finish = 0;
    for (const TrialFlow& flow : trial.flows) {
        last_start = std::max(last_start, flow.start_s);
        if (std::isfinite(flow.time_s)) {
            last_finish = std::max(last_finish, flow.start_s + flow.time_s);
        }
    }
    return last_start > kLeastSpread * last_finish ? last_start : 0;
}

}  // namespace

WindowFinder::WindowFinder(const WindowAim& aim, std::size_t maximum_trials)
    : aim_(aim), wanted_(std::min(kTrials, maximum_trials)) {
    if (!aim.find) counted_ = CountedWindow{aim.warm_up_s, CountedWindow{}.end};
}

void WindowFinder::add(std::size_t number, const TrialRecord& trial) {
    if (number >= wanted_ || number < seen_) return;
    ahead_[number] = trial;
    for (auto at = ahead_.find(seen_); at != ahead_.end(); at = ahead_.find(seen_)) {
        take(at->second);
        ahead_.erase(at);
        ++seen_;
        if (seen_ == wanted_) find();
    }
}

void WindowFinder::take(const TrialRecord& trial) {
    if (const double arrivals = arrivals_of(trial); arrivals > 0) {
        arrivals_s_ += arrivals;
        ++with_flows_;
        for (const TrialFlow& flow : trial.flows) {
            if (std::isfinite(flow.time_s) && flow.time_s > 0) times_.push_back(flow.time_s);
        }
    }
}

void WindowFinder::find() {
    if (times_.empty()) {
        if (aim_.find) counted_ = CountedWindow{};
        return;
    }
    found_ = find_window(times_, arrivals_s_ / static_cast<double>(with_flows_));
    if (aim_.find && found_->ramp_share < 1) {
        counted_ = CountedWindow{found_->begin, found_->end};
    } else if (aim_.find) {
        counted_ = CountedWindow{};
    }
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
    if (!found_) return kNothing;
    std::ostringstream text;
    text.precision(17);
    text << found_->begin << ' ' << found_->end << ' ' << found_->ramp_share << ' '
         << found_->mostly_ramps;
    return text.str();
}

void WindowFinder::set_text(const std::string& text) {
    Window window;
    std::istringstream words(text);
    if (text == kNothing) {
        seen_ = wanted_;
        find();
    }
    if (!(words >> window.begin >> window.end >> window.ramp_share >> window.mostly_ramps)) return;
    found_ = window;
    seen_ = wanted_;
    if (!aim_.find) return;
    counted_ = window.ramp_share < 1 ? CountedWindow{window.begin, window.end} : CountedWindow{};
}

}  // namespace sluice::eval
