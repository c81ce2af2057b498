// SPDX-License-Identifier: Apache-2.0
// What all laws share: defaults, names, checks, windows, the fixed law, determinism.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/congestion/congestion.h"
#include "core/congestion/int_record.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Law kLaws[] = {Law::none,  Law::hpcc,  Law::dcqcn, Law::timely,
                         Law::dctcp, Law::swift, Law::nscc,  Law::rccc};

/// A fixed, lively sequence of ACKs and timers; returns every rate it went through.
std::vector<std::int64_t> rates_of_a_run(Law law) {
    const Parameters parameters = default_parameters(law, kLine);
    IntRates rates;
    rates.bits_per_second[0] = kLine;
    State state;
    start(state, parameters, kLine, 78'000, 6240 * kNanosecond);
    std::vector<std::int64_t> seen;
    std::uint64_t noise = 1;
    std::int64_t sent = 0;
    Tick now = kMillisecond;
    for (std::int64_t i = 1; i <= 5000; ++i) {
        noise = noise * 6364136223846793005U + 1442695040888963407U;
        const auto draw = static_cast<std::int64_t>(noise >> 40);
        now += 80 * kNanosecond + draw % 40 * kNanosecond;
        while (next_timer(state, parameters) < now) {
            on_timer(state, parameters, next_timer(state, parameters));
            seen.push_back(state.rate);
        }
        sent += 1000;
        const IntRecord record = pack_int(now, sent, draw % 100'000, 0, int_units(4));
        Ack ack;
        ack.now = now;
        ack.acked = i * 1000;
        ack.arrived = i * 1000;
        ack.next = i * 1000 + 50'000;
        ack.echo = draw % 7 == 0;
        ack.sent = now - 20 * kMicrosecond - draw % 900 * kMicrosecond;
        ack.hops = &record;
        ack.hop_count = 1;
        on_ack(state, parameters, rates, ack);
        seen.push_back(state.rate);
        CHECK(state.rate >= parameters.min_rate);
        // Beyond the line rate NSCC has a window, and half a byte more.
        CHECK(state.rate <= (law == Law::nscc ? kLine + kLine / 2 + 1'000'000 : kLine));
        CHECK(window(state, parameters) >= 1);
    }
    return seen;
}

}  // namespace

TEST_CASE("unit.congestion.defaults.are_the_references_at_100_gbps") {
    const Parameters hpcc = default_parameters(Law::hpcc, kLine);
    CHECK(hpcc.min_rate == 1'000'000'000);
    CHECK(hpcc.payload == 1000);
    CHECK(hpcc.pacing);
    CHECK(hpcc.window);
    CHECK(hpcc.variable_window);
    CHECK(hpcc.hpcc.target_utilization == 0.95);
    CHECK(hpcc.hpcc.max_stage == 5);
    CHECK(hpcc.hpcc.additive_rate == 50'000'000);
    CHECK(hpcc.hpcc.fast_reaction);
    CHECK_FALSE(hpcc.hpcc.multi_rate);
    CHECK_FALSE(hpcc.hpcc.sample_feedback);
    CHECK(hpcc.hpcc.int_multiplier == 4);

    const Parameters dcqcn = default_parameters(Law::dcqcn, kLine);
    CHECK_FALSE(dcqcn.window);
    CHECK(dcqcn.dcqcn.alpha_interval == 1 * kMicrosecond);
    CHECK(dcqcn.dcqcn.decrease_interval == 4 * kMicrosecond);
    CHECK(dcqcn.dcqcn.increase_interval == 300 * kMicrosecond);
    CHECK(dcqcn.dcqcn.gain == 1.0 / 256);
    CHECK(dcqcn.dcqcn.fast_recovery_stages == 1);
    CHECK(dcqcn.dcqcn.additive_rate == 20'000'000);
    CHECK(dcqcn.dcqcn.hyper_rate == 200'000'000);
    CHECK_FALSE(dcqcn.dcqcn.clamp_target_rate);

    const Parameters timely = default_parameters(Law::timely, kLine);
    CHECK_FALSE(timely.window);
    CHECK(timely.timely.t_low == 50 * kMicrosecond);
    CHECK(timely.timely.t_high == 500 * kMicrosecond);
    CHECK(timely.timely.min_rtt == 20 * kMicrosecond);
    CHECK(timely.timely.ewma == 0.875);
    CHECK(timely.timely.beta == 0.8);
    CHECK(timely.timely.additive_rate == 100'000'000);
    CHECK(timely.timely.hyper_rate == 500'000'000);
    CHECK(timely.timely.hyper_after == 5);

    const Parameters dctcp = default_parameters(Law::dctcp, kLine);
    CHECK(dctcp.window);
    CHECK(dctcp.variable_window);
    CHECK(dctcp.dctcp.gain == 1.0 / 16);
    CHECK(dctcp.dctcp.additive_rate == 615'000'000);

    const Parameters none = default_parameters(Law::none, kLine);
    CHECK(none.window);
    CHECK_FALSE(none.variable_window);
}

TEST_CASE("unit.congestion.defaults.scale_with_the_line_rate") {
    // 400 Gb/s: four times the steps, INT unit 400 / 25; DCTCP's step is one packet per 13 us at
    // any rate. 10 Gb/s: a tenth, INT unit 1, min rate 1 Gb/s; 1 Gb/s: min rate a tenth of it.
    const Parameters fast = default_parameters(Law::hpcc, 4 * kLine);
    CHECK(fast.hpcc.additive_rate == 200'000'000);
    CHECK(fast.hpcc.int_multiplier == 16);
    CHECK(fast.dcqcn.additive_rate == 80'000'000);
    CHECK(fast.timely.hyper_rate == 2'000'000'000);
    CHECK(fast.dctcp.additive_rate == 615'000'000);
    CHECK(fast.min_rate == 1'000'000'000);
    const Parameters slow = default_parameters(Law::dcqcn, kLine / 10);
    CHECK(slow.dcqcn.hyper_rate == 20'000'000);
    CHECK(slow.hpcc.int_multiplier == 1);
    CHECK(slow.min_rate == 1'000'000'000);
    CHECK(default_parameters(Law::hpcc, kLine / 100).min_rate == 100'000'000);
    CHECK(default_parameters(Law::hpcc, 1).min_rate == 1);
}

TEST_CASE("unit.congestion.names.stand_once") {
    Parameters parameters;
    std::vector<std::string> names;
    for_each_law(parameters, [&](Law law, const char* name, auto, auto&) {
        CHECK(std::string(law_name(law)) == name);
        names.emplace_back(name);
    });
    CHECK(names == std::vector<std::string>{"hpcc", "dcqcn", "timely", "dctcp", "swift", "nscc",
                                            "rccc", "none"});
}

TEST_CASE("unit.congestion.checks.defaults_are_usable") {
    for (const Law law : kLaws) {
        for (const std::int64_t rate : {std::int64_t{1'000'000}, kLine, 16 * kLine}) {
            CHECK(parameter_error(default_parameters(law, rate)).empty());
        }
    }
}

TEST_CASE("unit.congestion.checks.name_what_is_wrong_and_what_is_allowed") {
    Parameters p = default_parameters(Law::dcqcn, kLine);
    p.dcqcn.alpha_interval = 0;
    CHECK(parameter_error(p) == "dcqcn alpha_interval must be from 1 ns to 1 s");
    p = default_parameters(Law::hpcc, kLine);
    p.hpcc.target_utilization = 0;
    CHECK(parameter_error(p) == "hpcc target_utilization must be from 0.01 to 1");
    p = default_parameters(Law::hpcc, kLine);
    p.hpcc.int_multiplier = 0;
    CHECK(parameter_error(p) == "hpcc int_multiplier must be from 1 to 4096");
    p = default_parameters(Law::timely, kLine);
    p.timely.min_rtt = 999;
    CHECK(parameter_error(p) == "timely min_rtt must be from 1 ns to 1 s");
    p = default_parameters(Law::dctcp, kLine);
    p.dctcp.gain = 2;
    CHECK(parameter_error(p) == "dctcp gain must be from 0 to 1");
    p = default_parameters(Law::dctcp, kLine);
    p.payload = 0;
    CHECK(parameter_error(p) == "payload must be at least 1 byte");
    p = default_parameters(Law::none, kLine);
    p.min_rate = 0;
    CHECK(parameter_error(p) == "min_rate must be at least 1 bps");
}

TEST_CASE("unit.congestion.checks.pairs_that_exclude_each_other") {
    Parameters p = default_parameters(Law::timely, kLine);
    p.timely.t_low = kMillisecond;
    CHECK(parameter_error(p) == "timely t_low must not be above t_high");
}

TEST_CASE("unit.congestion.traits.sizes_and_feedback") {
    CHECK(traits(Law::hpcc).extra_header == 42);
    CHECK(traits(Law::hpcc).ack() == 88);
    CHECK(traits(Law::timely).extra_header == 8);
    CHECK(traits(Law::timely).ack() == 60);  // 54, padded
    const Parameters parameters;
    for_each_law(parameters, [](Law law, const char* name, auto, auto&) {
        CAPTURE(name);
        CHECK(traits(law).uses_int == (law == Law::hpcc));
        CHECK(traits(law).reacts_to_marks ==
              (law == Law::dcqcn || law == Law::dctcp || law == Law::nscc));
    });
}

TEST_CASE("unit.congestion.window.scales_truncates_and_stays_above_zero") {
    Parameters p = default_parameters(Law::hpcc, kLine);
    State state;
    start(state, p, kLine, 78'000, 6240 * kNanosecond);
    state.rate = 33'333'333'333;
    CHECK(window(state, p) == 25'999);  // 25,999.99999974
    state.rate = 1;
    CHECK(window(state, p) == 1);
    p.variable_window = false;
    CHECK(window(state, p) == 78'000);
}

TEST_CASE("unit.congestion.window.products_beyond_64_bits") {
    // 100 MB x 399,999,999,999 bit/s = 4e19 > 2^64; / 400 Gb/s = 99,999,999.99975.
    const Parameters p = default_parameters(Law::hpcc, 4 * kLine);
    State state;
    start(state, p, 4 * kLine, 100'000'000, 6240 * kNanosecond);
    state.rate = 4 * kLine - 1;
    CHECK(window(state, p) == 99'999'999);
}

TEST_CASE("unit.congestion.window.absent_means_unbounded") {
    Parameters p = default_parameters(Law::hpcc, kLine);
    State state;
    start(state, p, kLine, 0, 6240 * kNanosecond);
    CHECK(window(state, p) == std::int64_t{1} << 62);
    p.window = false;
    start(state, p, kLine, 78'000, 6240 * kNanosecond);
    CHECK(state.max_window == 0);
    CHECK(window(state, p) == std::int64_t{1} << 62);
}

TEST_CASE("unit.congestion.none.nothing_changes_rate_or_window") {
    const std::vector<std::int64_t> seen = rates_of_a_run(Law::none);
    for (const std::int64_t rate : seen) {
        CHECK(rate == kLine);
    }
    CHECK(slowest_period(default_parameters(Law::none, kLine)) == 0);
}

TEST_CASE("unit.congestion.determinism.same_events_same_rates") {
    for (const Law law : kLaws) {
        CAPTURE(law_name(law));
        const std::vector<std::int64_t> first = rates_of_a_run(law);
        CHECK(first == rates_of_a_run(law));
        bool moved = false;
        for (const std::int64_t rate : first) {
            moved = moved || rate != kLine;
        }
        CHECK(moved == (law != Law::none && law != Law::rccc));
    }
}

TEST_CASE("unit.congestion.state.copies_as_plain_bytes") {
    // Engines keep states in columns and move them with memcpy, on host and device.
    CHECK(std::is_trivially_copyable_v<State>);
    CHECK(std::is_trivially_copyable_v<Parameters>);
    CHECK(sizeof(State) <= 320);
    // What an HPCC ACK touches, the single-rate columns included, fits two cache lines.
    State state;
    const auto* const first = reinterpret_cast<const char*>(&state);
    CHECK(reinterpret_cast<const char*>(state.hpcc.hop_rate) - first <= 128);
    start(state, default_parameters(Law::dcqcn, kLine), kLine, 78'000, 6240 * kNanosecond);
    State copy;
    std::memcpy(&copy, &state, sizeof state);
    CHECK(copy.dcqcn.target_rate == kLine);
    CHECK(copy.dcqcn.alpha_due == kNever);
}
