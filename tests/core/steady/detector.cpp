// SPDX-License-Identifier: Apache-2.0
// Detectors and guards on hand-made series. 100 Gb/s, 4 us, 1000-byte packets: one sample per
// microsecond, two samples per block. Under HPCC a span covers at least 7 round trips, which is the
// second level: 32 samples after the first, 32 us. Tolerance 10%, growth 32.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/congestion/congestion.h"
#include "core/random.h"
#include "core/steady/detectors.h"

using namespace sluice;
using namespace sluice::steady;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr int kSpan = 32;  ///< samples

GroupFacts group(congestion::Law law, std::size_t flows, std::size_t ports = 0) {
    GroupFacts facts;
    facts.congestion = congestion::default_parameters(law, kLine);
    facts.base_rtt = 4 * kMicrosecond;
    facts.line_rate = kLine;
    facts.payload = 1000;
    facts.flows = flows;
    facts.ports = ports;
    return facts;
}

/// Feeds a detector: flow f runs at rate(f, t) Gb/s, with flight(f, t) bytes in flight.
class Feed {
  public:
    explicit Feed(const GroupFacts& given, const DetectorSettings& settings = {})
        : facts(given), detector(make_detector(settings)) {
        restart(given);
    }

    void restart(const GroupFacts& given) {
        facts = given;
        detector->reset(facts);
        carried.assign(facts.flows, 0);
    }

    void sample() {
        std::vector<FlowReading> readings(facts.flows);
        for (std::size_t f = 0; f < facts.flows; ++f) {
            const double gigabits = rate(f, microseconds);
            carried[f] += gigabits * 125;  // bytes in a microsecond
            readings[f].progress = static_cast<Tick>(microseconds) * kMicrosecond;
            readings[f].acked = static_cast<std::int64_t>(std::llround(carried[f]));
            readings[f].in_flight = static_cast<std::int64_t>(flight(f, microseconds));
            readings[f].rate = static_cast<std::int64_t>(gigabits * 1e9);
            readings[f].echoes = echoes(microseconds);
        }
        std::vector<std::int64_t> queues(facts.ports);
        for (std::size_t p = 0; p < facts.ports; ++p) {
            queues[p] = static_cast<std::int64_t>(queue(microseconds));
        }
        detector->add(static_cast<Tick>(microseconds) * kMicrosecond, readings, queues);
        ++microseconds;
    }

    /// Samples until steady, at most `limit`; how many it took, or -1.
    int until_steady(int limit) {
        for (int n = 1; n <= limit; ++n) {
            sample();
            if (detector->judge().steady) {
                return n;
            }
        }
        return -1;
    }

    double skip_us() const {
        return static_cast<double>(detector->judge().longest_skip) / kMicrosecond;
    }

    GroupFacts facts;
    std::unique_ptr<Detector> detector;
    std::function<double(std::size_t, int)> rate = [](std::size_t, int) { return 40.0; };
    std::function<double(std::size_t, int)> flight = [](std::size_t, int) { return 20'000.0; };
    std::function<double(int)> queue = [](int) { return 0.0; };
    std::function<std::int64_t(int)> echoes = [](int) { return 0; };
    std::vector<double> carried;
    int microseconds = 0;
};

std::string reason(const Feed& feed) { return feed.detector->judge().reason; }

}  // namespace

TEST_CASE("unit.steady.detector.a_constant_flow_is_steady_after_one_span_for_growth_spans") {
    Feed feed(group(congestion::Law::hpcc, 1));
    CHECK(feed.until_steady(kSpan) == -1);
    CHECK(reason(feed) == "span");
    CHECK(feed.until_steady(1) == 1);
    const Verdict verdict = feed.detector->judge();
    REQUIRE(verdict.rate.size() == 1);
    CHECK(verdict.rate[0] == doctest::Approx(5e9).epsilon(1e-9));
    CHECK(feed.skip_us() == doctest::Approx(32.0 * kSpan).epsilon(1e-6));
}

TEST_CASE("unit.steady.detector.flows_at_line_rate_wait_for_no_timer") {
    Feed feed(group(congestion::Law::dcqcn, 1));
    feed.rate = [](std::size_t, int) { return 100.0; };
    CHECK(feed.until_steady(17) == 17);  // four round trips
}

TEST_CASE("unit.steady.detector.a_throttled_dcqcn_flow_must_show_its_sawtooth_first") {
    Feed feed(group(congestion::Law::dcqcn, 1));
    CHECK(feed.until_steady(12'000) == -1);
    CHECK(feed.until_steady(5'000) > 0);
}

TEST_CASE("unit.steady.detector.a_ramp_caps_the_skip_and_skips_made_count_against_it") {
    // 1% per span: bytes are off by 1% x (32 us + skip) / 32 us / 2 <= 10%, so 608 us.
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.rate = [](std::size_t, int t) { return 40 * (1 + 0.01 * (t - kSpan / 2) / kSpan); };
    REQUIRE(feed.until_steady(kSpan + 1) == kSpan + 1);
    CHECK(feed.skip_us() == doctest::Approx(608).epsilon(0.005));
    feed.detector->resumed(100 * kMicrosecond);
    CHECK(reason(feed) == "probe");
    // 8 us later the mean is that of a span that has moved on by as much, 0.25% more: 640 us
    // become 641.6, less 32 and 100.
    CHECK(feed.until_steady(40) == 8);
    CHECK(feed.skip_us() == doctest::Approx(509.6).epsilon(0.005));
}

TEST_CASE("unit.steady.detector.what_flows_have_skipped_in_other_groups_counts_from_the_start") {
    // The ramp of 1% per span again: 640 us for the span, the lag and the skip.
    GroupFacts behind = group(congestion::Law::hpcc, 1);
    behind.lag = 300 * kMicrosecond;
    Feed feed(behind);
    feed.rate = [](std::size_t, int t) { return 40 * (1 + 0.01 * (t - kSpan / 2) / kSpan); };
    REQUIRE(feed.until_steady(kSpan + 1) == kSpan + 1);
    CHECK(feed.skip_us() == doctest::Approx(308).epsilon(0.01));
    feed.detector->resumed(100 * kMicrosecond);  // adds to it: 641.6 - 32 - 400
    REQUIRE(feed.until_steady(40) == 8);
    CHECK(feed.skip_us() == doctest::Approx(209.6).epsilon(0.015));

    // 600 us leave 8, less than the 16 of the shortest skip.
    behind.lag = 600 * kMicrosecond;
    feed.restart(behind);
    feed.microseconds = 0;
    CHECK(feed.until_steady(kSpan + 1) == -1);
    CHECK(reason(feed) == "trend");

    // What does not drift has nothing to catch up with.
    behind.lag = kSecond;
    Feed flat(behind);
    REQUIRE(flat.until_steady(kSpan + 1) == kSpan + 1);
    CHECK(flat.skip_us() == doctest::Approx(32.0 * kSpan).epsilon(1e-6));
}

TEST_CASE("unit.steady.detector.a_steep_ramp_is_refused") {
    // Below the 5% that theta allows over the blocks, trends never are steep enough by default: with
    // theta at 30%, 14% per span leave 2 x 10 / 14 x 32 - 32 = 13.7 us, less than four round trips,
    // and 13% leave 17.2 us.
    DetectorSettings wide;
    wide.theta = 0.3;
    Feed feed(group(congestion::Law::hpcc, 1), wide);
    double change = 0.14;
    feed.rate = [&](std::size_t, int t) { return 40 * (1 + change * (t - kSpan / 2) / kSpan); };
    CHECK(feed.until_steady(kSpan + 1) == -1);
    CHECK(reason(feed) == "trend");
    change = 0.13;
    feed.restart(feed.facts);
    feed.microseconds = 0;
    REQUIRE(feed.until_steady(kSpan + 1) == kSpan + 1);
    CHECK(feed.skip_us() == doctest::Approx(17.2).epsilon(0.02));

    Feed steeper(group(congestion::Law::hpcc, 1));
    steeper.rate = [](std::size_t, int t) { return 40 + 0.2 * t; };
    CHECK(steeper.until_steady(kSpan + 1) == -1);
    CHECK(reason(steeper) == "rate range");
}

TEST_CASE("unit.steady.detector.the_rate_of_a_short_sawtooth_is_its_mean_over_whole_periods") {
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.rate = [](std::size_t, int t) { return 40 + 2.0 * (t % 4); };  // mean 43
    REQUIRE(feed.until_steady(2 * kSpan) > 0);
    CHECK(feed.detector->judge().rate[0] == doctest::Approx(43 * 125e6).epsilon(1e-6));
}

TEST_CASE("unit.steady.detector.on_a_long_sawtooths_slope_a_skip_ends_well_before_its_edge") {
    // 40% in 512 us, then back: the slope is 2.5% per span of its first, whose mean is 1.3% more.
    // 2 x 10 / 2.5 x 1.013 x 32 - 32 = 227 us of the 479 that are left.
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.rate = [](std::size_t, int t) { return 40 * (1 + 0.4 * (t % 512) / 512); };
    REQUIRE(feed.until_steady(kSpan + 1) > 0);
    CHECK(feed.skip_us() == doctest::Approx(227).epsilon(0.01));
}

TEST_CASE("unit.steady.detector.a_sawtooth_within_the_tolerance_does_not_end_a_skip") {
    // 20%: 1.25% per span, mean 0.6% more. 2 x 10 / 1.25 x 1.006 x 32 - 32 = 483 us, to its edge.
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.rate = [](std::size_t, int t) { return 40 * (1 + 0.2 * (t % 512) / 512); };
    REQUIRE(feed.until_steady(kSpan + 1) > 0);
    CHECK(feed.skip_us() == doctest::Approx(483).epsilon(0.01));
}

TEST_CASE("unit.steady.detector.noise_needs_more_time_and_then_gives_the_mean") {
    Feed feed(group(congestion::Law::hpcc, 2));
    feed.rate = [](std::size_t f, int t) {
        return 40 + 16 * (uniform(7, f, static_cast<std::uint64_t>(t)) - 0.5);
    };
    CHECK(feed.until_steady(2 * kSpan) == -1);
    REQUIRE(feed.until_steady(20'000) > 0);
    CHECK(feed.detector->judge().rate[0] == doctest::Approx(5e9).epsilon(0.02));
    CHECK(feed.detector->judge().rate[1] == doctest::Approx(5e9).epsilon(0.02));
}

TEST_CASE("unit.steady.detector.one_restless_flow_among_many_holds_all_back") {
    Feed feed(group(congestion::Law::hpcc, 50));
    feed.rate = [](std::size_t f, int t) { return f == 31 ? 1 + 0.01 * t : 1.5; };
    CHECK(feed.until_steady(4 * kSpan) == -1);
    CHECK(reason(feed) == "rate range");
}

TEST_CASE("unit.steady.detector.a_late_joiner_starts_everything_over") {
    Feed feed(group(congestion::Law::hpcc, 2));
    REQUIRE(feed.until_steady(kSpan + 1) > 0);
    feed.restart(group(congestion::Law::hpcc, 3));
    CHECK_FALSE(feed.detector->judge().steady);
    CHECK(reason(feed) == "span");
    CHECK(feed.until_steady(kSpan + 1) == kSpan + 1);
    CHECK(feed.detector->judge().rate.size() == 3);
}

TEST_CASE("unit.steady.detector.skips_made_before_a_reset_count_by_the_lag_given_only") {
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.rate = [](std::size_t, int t) { return 40 * (1 + 0.01 * (t - kSpan / 2) / kSpan); };
    REQUIRE(feed.until_steady(kSpan + 1) > 0);
    feed.detector->resumed(kMillisecond);
    CHECK(feed.until_steady(kSpan) == -1);
    CHECK(reason(feed) == "trend");
    feed.restart(feed.facts);
    feed.microseconds = 0;
    CHECK(feed.until_steady(kSpan + 1) > 0);
}

TEST_CASE("unit.steady.detector.no_flows_are_never_steady") {
    Feed feed(group(congestion::Law::hpcc, 0));
    CHECK(feed.until_steady(4 * kSpan) == -1);
}

TEST_CASE("unit.steady.detector.a_flow_of_few_packets_needs_a_span_that_has_some_in_every_block") {
    // One packet every 12 us: acked and progress stand still between. Blocks of 16 us hold one or
    // two, those of a whole span of 512 us five or six.
    const DetectorSettings settings;
    const std::unique_ptr<Detector> detector = make_detector(settings);
    detector->reset(group(congestion::Law::hpcc, 1));
    FlowReading reading;
    reading.rate = 1'000'000'000;
    reading.in_flight = 1000;
    int steady_at = -1;
    for (int t = 0; t < 4096 && steady_at < 0; ++t) {
        reading.progress = Tick{t / 12 * 12} * kMicrosecond;
        reading.acked = t / 12 * 1000;
        detector->add(Tick{t} * kMicrosecond, {reading}, {});
        if (detector->judge().steady) {
            steady_at = t;
        }
    }
    CHECK(steady_at >= 128);
    CHECK(detector->judge().rate[0] == doctest::Approx(1000 / 12e-6).epsilon(1e-6));
}

TEST_CASE("unit.steady.detector.flows_that_share_a_port_are_trusted_less") {
    // A ramp of 1% per span: alone, 10% of a flow's bytes may be off by it, sharing 1%.
    GroupFacts facts = group(congestion::Law::hpcc, 1);
    Tick skips[2] = {};
    for (const std::size_t sharing : {std::size_t{1}, std::size_t{2}}) {
        facts.sharing = sharing;
        CHECK(resolved(DetectorSettings{}, facts).tolerance == (sharing == 1 ? 0.1 : 0.01));
        Feed feed(facts);
        feed.rate = [](std::size_t, int t) { return 100.0 * (1 + 0.01 * t / kSpan); };
        REQUIRE(feed.until_steady(kSpan + 1) > 0);
        skips[sharing - 1] = feed.detector->judge().longest_skip;
    }
    CHECK(skips[0] > 5 * skips[1]);
}

TEST_CASE("unit.steady.detector.a_queue_that_fills_under_flat_rates_caps_the_skip") {
    // 2000 bytes more per span: 30% of the mean (21,031) and a packet last
    // (6,309 + 1000) / 2000 x 32 us = 116.9 us.
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.flight = [](std::size_t, int t) { return 20'000 + 2000.0 * t / kSpan; };
    REQUIRE(feed.until_steady(kSpan + 1) > 0);
    CHECK(feed.skip_us() == doctest::Approx(116.9).epsilon(0.002));
}

TEST_CASE("unit.steady.detector.a_deep_queue_makes_round_trips_long") {
    // 40 Gb/s are 5000 bytes per us: 100,000 in flight take 20 us, four round trips 80.
    Feed feed(group(congestion::Law::hpcc, 1));
    feed.flight = [](std::size_t, int) { return 100'000.0; };
    CHECK(feed.until_steady(80) == -1);
    CHECK(feed.until_steady(80) > 0);
}

TEST_CASE("unit.steady.detector.longer_skips_after_confirmed_ones") {
    Feed feed(group(congestion::Law::none, 1));
    feed.rate = [](std::size_t, int) { return 100.0; };
    REQUIRE(feed.until_steady(17) == 17);
    CHECK(feed.skip_us() == doctest::Approx(32 * 16));
    feed.detector->resumed(512 * kMicrosecond);
    CHECK(feed.until_steady(7) == -1);
    REQUIRE(feed.until_steady(1) == 1);
    CHECK(feed.skip_us() == doctest::Approx(2 * 32 * 16));
}

TEST_CASE("unit.steady.detector.settings_switch_the_guards_off") {
    DetectorSettings bare;
    bare.theta = 0.05;
    bare.span = 16 * kMicrosecond;
    bare.tolerance = 1e9;
    bare.growth = 1e9;
    Feed feed(group(congestion::Law::dcqcn, 1), bare);
    feed.rate = [](std::size_t, int t) { return 40 + 0.05 * t; };
    feed.flight = [](std::size_t, int t) { return 10'000 + 60.0 * t; };
    CHECK(feed.until_steady(17) == 17);
    CHECK(feed.skip_us() > 1e6);
}

TEST_CASE("unit.steady.detector.hygra_asks_for_quiet_rates_then_quiet_queues_several_rounds") {
    DetectorSettings settings;
    settings.kind = DetectorKind::hygra;
    Feed feed(group(congestion::Law::hpcc, 1, 2), settings);
    CHECK(feed.detector->reads_queues());
    CHECK(feed.until_steady(kSpan + 1) == -1);
    CHECK(reason(feed) == "rounds");
    CHECK(feed.until_steady(100) == 8);  // two more blocks of 4 us

    feed.restart(feed.facts);
    feed.queue = [](int t) { return t % 32 == 0 ? 60'000.0 : 0.0; };
    CHECK(feed.until_steady(4 * kSpan) == -1);
    CHECK(reason(feed) == "queue");

    // Eq. 1 is absolute: 5% of the line are 5 Gb/s, whatever the share.
    feed.restart(feed.facts);
    feed.microseconds = 0;
    feed.queue = [](int) { return 0.0; };
    feed.rate = [](std::size_t, int t) { return (t + 3) / 4 % 2 == 0 ? 40.0 : 46.0; };
    CHECK(feed.until_steady(kSpan + 9) == -1);
    CHECK(reason(feed) == "rate range");
}

TEST_CASE("unit.steady.detector.inflight_and_queue_look_at_what_their_names_say") {
    DetectorSettings settings;
    settings.kind = DetectorKind::inflight;
    Feed inflight(group(congestion::Law::hpcc, 1), settings);
    CHECK_FALSE(inflight.detector->reads_queues());
    inflight.flight = [](std::size_t, int t) { return t / 4 % 2 == 0 ? 20'000.0 : 24'000.0; };
    CHECK(inflight.until_steady(kSpan + 1) == -1);
    CHECK(reason(inflight) == "rate range");
    Feed rate(group(congestion::Law::hpcc, 1));
    rate.flight = inflight.flight;
    CHECK(rate.until_steady(kSpan + 1) > 0);

    settings.kind = DetectorKind::queue;
    Feed queue(group(congestion::Law::hpcc, 1, 1), settings);
    CHECK(queue.detector->reads_queues());
    queue.queue = [](int t) { return t % 16 < 8 ? 0.0 : 10'000.0; };
    CHECK(queue.until_steady(4 * kSpan) == -1);
    CHECK(reason(queue) == "queue");
}

TEST_CASE("unit.steady.detector.share_of_marked_acks_is_that_of_the_span_behind_the_verdict") {
    // 40 Gb/s are 5 packets of 1000 B in a microsecond; every other ACK is marked until the last echo.
    const auto share = [](congestion::Law law, int last_echo) {
        Feed feed(group(law, 1));
        feed.echoes = [=](int t) { return 5 * std::min(t, last_echo) / 2; };
        REQUIRE(feed.until_steady(40 * kSpan) > 0);
        return feed.detector->judge().marked.at(0);
    };
    CHECK(share(congestion::Law::dctcp, 100'000) == doctest::Approx(0.5).epsilon(0.02));
    CHECK(share(congestion::Law::dctcp, 1) < 0.02);
    CHECK(share(congestion::Law::dctcp, 0) == 0);
    CHECK(share(congestion::Law::hpcc, 100'000) == 0);  // does not look at marks
}

TEST_CASE("unit.steady.detector.every_metric_has_a_word") {
    std::vector<std::string> words;
    for (const auto& [word, kind] : detector_words()) {
        words.emplace_back(word);
    }
    CHECK(words == std::vector<std::string>{"rate", "hygra", "inflight", "queue"});
    CHECK(DetectorSettings{}.kind == DetectorKind::rate);
}
