// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/congestion/congestion.h"
#include "core/congestion/int_record.h"
#include "core/units.h"

namespace sluice::congestion {

namespace {

constexpr std::int64_t kReferenceRate = 100'000'000'000;

/// A rate that is `at_100g` on a 100 Gb/s NIC and proportional to the NIC's rate.
std::int64_t in_proportion(std::int64_t at_100g, std::int64_t line_rate) {
    return larger(scaled(at_100g, line_rate, kReferenceRate), 1);
}

struct LawName {
    Law law;
    const char* name;
};

constexpr LawName kLawNames[] = {{Law::none, "none"},
                                 {Law::hpcc, "hpcc"},
                                 {Law::dcqcn, "dcqcn"},
                                 {Law::timely, "timely"},
                                 {Law::dctcp, "dctcp"}};

std::string must_be(const char* name, const char* allowed) {
    return std::string(name) + " must be " + allowed;
}

bool within(double value, double low, double high) { return value >= low && value <= high; }

/// Durations that the laws divide by: from 1 ns to 1 s.
bool usable_period(Tick period) { return period >= kNanosecond && period <= kSecond; }

/// Steps stay far below 2^62, so that rate + step cannot overflow.
bool usable_step(std::int64_t step) { return step >= 0 && step <= 1'000'000'000'000'000; }

std::string hpcc_error(const HpccParameters& p) {
    if (!within(p.target_utilization, 0.01, 1.0)) {
        return must_be("hpcc target_utilization", "from 0.01 to 1");
    }
    if (p.max_stage < 0) {
        return must_be("hpcc max_stage", "0 or more");
    }
    if (!usable_step(p.additive_rate)) {
        return must_be("hpcc additive_rate", "from 0 to 1000 Tbps");
    }
    if (p.int_multiplier < 1 || p.int_multiplier > kMaxIntMultiplier) {
        return must_be("hpcc int_multiplier", "from 1 to 4096");
    }
    return {};
}

std::string dcqcn_error(const DcqcnParameters& p) {
    if (!usable_period(p.alpha_interval)) {
        return must_be("dcqcn alpha_interval", "from 1 ns to 1 s");
    }
    if (!usable_period(p.decrease_interval)) {
        return must_be("dcqcn decrease_interval", "from 1 ns to 1 s");
    }
    if (!usable_period(p.increase_interval)) {
        return must_be("dcqcn increase_interval", "from 1 ns to 1 s");
    }
    if (!within(p.gain, 0.0, 1.0)) {
        return must_be("dcqcn gain", "from 0 to 1");
    }
    if (p.fast_recovery_stages < 0 || p.fast_recovery_stages > 1'000'000) {
        return must_be("dcqcn fast_recovery_stages", "from 0 to 1000000");
    }
    if (!usable_step(p.additive_rate) || !usable_step(p.hyper_rate)) {
        return must_be("dcqcn additive_rate and hyper_rate", "from 0 to 1000 Tbps");
    }
    if (!within(p.rate_on_first_cnp, 0.001, 1.0)) {
        return must_be("dcqcn rate_on_first_cnp", "from 0.001 to 1");
    }
    return {};
}

std::string timely_error(const TimelyParameters& p) {
    if (p.t_low < 0 || p.t_high < p.t_low || p.t_high > kSecond) {
        return must_be("timely t_low and t_high", "0 <= t_low <= t_high <= 1 s");
    }
    if (!usable_period(p.min_rtt)) {
        return must_be("timely min_rtt", "from 1 ns to 1 s");
    }
    if (!within(p.ewma, 0.0, 1.0) || !within(p.beta, 0.0, 1.0)) {
        return must_be("timely ewma and beta", "from 0 to 1");
    }
    if (!usable_step(p.additive_rate) || !usable_step(p.hyper_rate)) {
        return must_be("timely additive_rate and hyper_rate", "from 0 to 1000 Tbps");
    }
    if (p.hyper_after < 0) {
        return must_be("timely hyper_after", "0 or more");
    }
    return {};
}

std::string dctcp_error(const DctcpParameters& p) {
    if (!within(p.gain, 0.0, 1.0)) {
        return must_be("dctcp gain", "from 0 to 1");
    }
    if (!usable_step(p.additive_rate)) {
        return must_be("dctcp additive_rate", "from 0 to 1000 Tbps");
    }
    return {};
}

}  // namespace

Parameters default_parameters(Law law, std::int64_t line_rate) {
    Parameters p;
    p.law = law;
    p.min_rate = larger(smaller(1'000'000'000, line_rate / 10), 1);
    p.hpcc.additive_rate = in_proportion(50'000'000, line_rate);
    p.hpcc.int_multiplier =
        static_cast<int>(smaller(larger(line_rate / 25'000'000'000, 1), kMaxIntMultiplier));
    p.dcqcn.additive_rate = in_proportion(20'000'000, line_rate);
    p.dcqcn.hyper_rate = in_proportion(200'000'000, line_rate);
    p.timely.additive_rate = in_proportion(100'000'000, line_rate);
    p.timely.hyper_rate = in_proportion(500'000'000, line_rate);
    p.window = law != Law::dcqcn && law != Law::timely;
    p.variable_window = law == Law::hpcc || law == Law::dctcp;
    return p;
}

const char* law_name(Law law) {
    for (const LawName& entry : kLawNames) {
        if (entry.law == law) {
            return entry.name;
        }
    }
    return "unknown";
}

std::optional<Law> law_from_name(std::string_view name) {
    for (const LawName& entry : kLawNames) {
        if (name == entry.name) {
            return entry.law;
        }
    }
    return std::nullopt;
}

std::string parameter_error(const Parameters& parameters) {
    if (parameters.min_rate < 1) {
        return must_be("min_rate", "at least 1 bps");
    }
    if (parameters.payload < 1) {
        return must_be("payload", "at least 1 byte");
    }
    switch (parameters.law) {
        case Law::none: return {};
        case Law::hpcc: return hpcc_error(parameters.hpcc);
        case Law::dcqcn: return dcqcn_error(parameters.dcqcn);
        case Law::timely: return timely_error(parameters.timely);
        case Law::dctcp: return dctcp_error(parameters.dctcp);
    }
    return {};
}

}  // namespace sluice::congestion
