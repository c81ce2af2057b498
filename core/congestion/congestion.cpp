// SPDX-License-Identifier: Apache-2.0
#include "core/congestion/congestion.h"

#include <sstream>

namespace sluice::congestion {

namespace {

std::string time_text(Tick time) {
    const bool seconds = time % kSecond == 0;
    return std::to_string(time / (seconds ? kSecond : kNanosecond)) + (seconds ? " s" : " ns");
}

/// Visits the parameters of a law and keeps what is wrong with the first that is out of its range.
class RangeCheck {
  public:
    explicit RangeCheck(const char* law) : law_(law) {}

    void number(const char* name, double value, double lowest, double highest) {
        check(name, value >= lowest && value <= highest, lowest, highest);
    }
    void integer(const char* name, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
        check(name, value >= lowest && value <= highest, lowest, highest);
    }
    void time(const char* name, Tick value, Tick lowest, Tick highest) {
        check(name, value >= lowest && value <= highest, time_text(lowest), time_text(highest));
    }
    void flag(const char*, bool) {}
    /// Steps stay far below 2^62, so that rate + step cannot overflow.
    void rate(const char* name, std::int64_t value) {
        check(name, value >= 0 && value <= 1'000'000'000'000'000, 0, "1000 Tbps");
    }

    void exclude(const Conflict& conflict) {
        if (conflict.name != nullptr && error_.empty()) {
            error_ = std::string(law_) + ' ' + conflict.name + ' ' + conflict.rule;
        }
    }

    const std::string& error() const { return error_; }

  private:
    template <class Lowest, class Highest>
    void check(const char* name, bool usable, const Lowest& lowest, const Highest& highest) {
        if (!usable && error_.empty()) {
            std::ostringstream text;
            text << law_ << ' ' << name << " must be from " << lowest << " to " << highest;
            error_ = text.str();
        }
    }

    const char* law_;
    std::string error_;
};

}  // namespace

Parameters default_parameters(Law law, std::int64_t line_rate) {
    const Traits its = traits(law);
    Parameters parameters;
    parameters.law = law;
    parameters.min_rate = larger(smaller(1'000'000'000, line_rate / 10), 1);
    parameters.pacing = its.pacing;
    parameters.window = its.window;
    parameters.variable_window = its.variable_window;
    parameters.whole_packets = its.whole_packets;
    parameters.rate_is_window = its.rate_is_window;
    for_each_law(parameters,
                 [&](Law, const char*, auto hooks, auto& p) { hooks.scale_to(p, line_rate); });
    return parameters;
}

void fit_to_packets(Parameters& parameters, std::int64_t payload) {
    for_each_law(parameters,
                 [&](Law, const char*, auto hooks, auto& p) { hooks.fit_to_packets(p, payload); });
}

std::string parameter_error(const Parameters& parameters) {
    if (parameters.min_rate < 1) {
        return "min_rate must be at least 1 bps";
    }
    if (parameters.payload < 1) {
        return "payload must be at least 1 byte";
    }
    return visit_parameters(parameters, [&](auto law, const auto& p) {
        RangeCheck check(law_name(parameters.law));
        law.describe(p, check);
        check.exclude(law.conflict(p));
        return check.error();
    });
}

Tick waiting_time(const Parameters& parameters, Tick base_rtt) {
    const std::int64_t trips =
        visit_parameters(parameters, [](auto law, const auto& p) { return law.waiting_trips(p); });
    return larger(trips * base_rtt, slowest_period(parameters));
}

Tick swing_period(const Parameters& parameters, const Crowd& crowd) {
    return visit_parameters(parameters,
                            [&](auto law, const auto& p) { return law.swing_period(p, crowd); });
}

double target_utilization(const Parameters& parameters) {
    return visit_parameters(parameters,
                            [](auto law, const auto& p) { return law.target_utilization(p); });
}

double convergence_trips(const Parameters& parameters, double rate) {
    return visit_parameters(
        parameters, [rate](auto law, const auto& p) { return law.convergence_trips(p, rate); });
}

int int_multiplier(const Parameters& parameters) {
    return visit_parameters(parameters,
                            [](auto law, const auto& p) { return law.int_multiplier(p); });
}

}  // namespace sluice::congestion
