// SPDX-License-Identifier: Apache-2.0
/// [phases]: every key, its default, and refusals.
#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "core/steady/detectors.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"
#include "scenario/scenario.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

const std::string kStar = "[topology]\ntype = \"star\"\nhosts = 4\n";  // three lines
const std::string kHybrid = "mode = \"hybrid\"\n" + kStar;             // four

PhaseConfig phases_of(const std::string& text) {
    return parse_scenario("mode = \"hybrid\"\n" + kStar + text, "test.toml").phases;
}

std::string error_of(const std::string& text) {
    return sluice::error_of([&] { parse_scenario(text, "test.toml"); });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("unit.scenario.phases_defaults_leave_the_detector_to_choose") {
    const PhaseConfig phases = phases_of("[phases]\n");
    CHECK(phases.skip);
    CHECK(phases.scope == PhaseScope::partition);
    CHECK(phases.wake == Wake::automatic);
    CHECK(!phases.local());
    CHECK(phases.rates == SteadyRates::measured);
    CHECK(phases.restore == Restoration::hold);
    CHECK(phases.detector.kind == steady::DetectorKind::rate);
    CHECK(phases.detector.theta == 0);
    CHECK(phases.detector.span == 0);
    CHECK(phases.detector.eps_bw == 0);
    CHECK(phases.detector.eps_q == 0);
    CHECK(phases.detector.stable_rounds == 0);
    CHECK(phases.detector.tolerance == 0);
    CHECK(phases.longest_skip == 0);
    CHECK(phases.audit == 0);
    CHECK(!phases.memo);
    const PhaseConfig usual = parse_scenario(kStar, "test.toml").phases;
    CHECK(usual.audit == 0.1);
    CHECK(usual.audit_tolerance == 0.01);
    CHECK(usual.memo);
    const PhaseConfig hybrid = parse_scenario("mode = \"hybrid\"\n" + kStar, "test.toml").phases;
    CHECK(hybrid.audit == 0);
    CHECK(!hybrid.memo);
}

TEST_CASE("unit.scenario.phases_keys_are_read") {
    const PhaseConfig phases = phases_of(
        "[phases]\nskip = false\nscope = \"network\"\nrates = \"maxmin\"\nrestore = \"empty\"\n"
        "detector = \"hygra\"\ntheta = 0.05\nspan = \"200us\"\neps_bw = 0.01\neps_q = \"10KB\"\n"
        "stable_rounds = 5\ntolerance = 0.002\nlongest_skip = \"1ms\"\naudit = 0.1\n");
    CHECK(phases.audit == 0.1);
    CHECK(!phases.skip);
    CHECK(phases.scope == PhaseScope::network);
    CHECK(phases.rates == SteadyRates::maxmin);
    CHECK(phases.restore == Restoration::empty);
    CHECK(phases.detector.kind == steady::DetectorKind::hygra);
    CHECK(phases.detector.theta == 0.05);
    CHECK(phases.detector.span == 200 * kMicrosecond);
    CHECK(phases.detector.eps_bw == 0.01);
    CHECK(phases.detector.eps_q == 10'000);
    CHECK(phases.detector.stable_rounds == 5);
    CHECK(phases.detector.tolerance == 0.002);
    CHECK(phases.longest_skip == kMillisecond);
    CHECK(phases_of("[phases]\ndetector = \"inflight\"\n").detector.kind ==
          steady::DetectorKind::inflight);
    CHECK(phases_of("[phases]\ndetector = \"queue\"\n").detector.kind ==
          steady::DetectorKind::queue);
    CHECK(phases_of("[phases]\nwake = \"data\"\n").wake == Wake::data);
    CHECK(phases_of("[phases]\nwake = \"data\"\n").local());
    CHECK(!phases_of("[phases]\nwake = \"data\"\nskip = false\n").local());
}

TEST_CASE("unit.scenario.phases_are_recorded_where_they_count") {
    const auto recorded = [](const std::string& text) {
        return contains(parse_scenario(text, "test.toml").effective->json(), "\"detector\"");
    };
    CHECK(recorded(kHybrid));
    CHECK(recorded(kStar + "[phases]\n"));
    CHECK(recorded(kStar));
    CHECK(!recorded("mode = \"packet\"\n" + kStar));
}

TEST_CASE("unit.scenario.phases_refusals_name_place_and_what_is_allowed") {
    CHECK(error_of(kStar + "[phases]\nscope = \"port\"\n") ==
          "test.toml:5:9: 'scope' is \"port\"; must be one of partition, network");
    CHECK(error_of(kStar + "[phases]\nwake = \"all\"\n") ==
          "test.toml:5:8: 'wake' is \"all\"; must be one of automatic, partition, data");
    CHECK(error_of(kStar + "[phases]\nrates = \"max-min\"\n") ==
          "test.toml:5:9: 'rates' is \"max-min\"; must be one of measured, maxmin "
          "(nearest: maxmin)");
    CHECK(contains(error_of(kStar + "[phases]\nrestore = \"full\"\n"),
                   "hold, empty, last_mean, linear, transformer"));
    CHECK(contains(error_of(kStar + "[phases]\ndetector = \"ratte\"\n"), "nearest: rate"));
    CHECK(error_of(kStar + "[phases]\ntheta = 1.5\n") ==
          "test.toml:5:9: 'theta' is 1.5; must be a number from 0 to 1");
    CHECK(contains(error_of(kStar + "[phases]\ntheta = nan\n"), "from 0 to 1"));
    CHECK(contains(error_of(kStar + "[phases]\ntolerance = -0.1\n"), "from 0 to 1"));
    CHECK(contains(error_of(kStar + "[phases]\neps_bw = \"1%\"\n"), "from 0 to 1"));
    CHECK(contains(error_of(kStar + "[phases]\neps_q = 1000\n"), "unit missing"));
    CHECK(contains(error_of(kStar + "[phases]\nspan = 200\n"), "unit missing"));
    CHECK(contains(error_of(kStar + "[phases]\nlongest_skip = \"-1us\"\n"), "negative"));
    CHECK(contains(error_of(kStar + "[phases]\nstable_rounds = -1\n"), "from 0 to 1000000"));
    CHECK(contains(error_of(kStar + "[phases]\nskip = 1\n"), "true or false"));
    CHECK(error_of(kStar + "[phases]\nthetta = 0.1\n") ==
          "test.toml:5:1: unknown key \"thetta\" in [phases]; did you mean \"theta\"?");
    CHECK(contains(error_of("phases = 3\n" + kStar), "must be a table"));
}

TEST_CASE("unit.scenario.hybrid_refuses_the_tie_order_of_ns3") {
    const std::string ns3 = "[network]\narithmetic = \"ns3\"\n";
    CHECK(error_of(kHybrid + ns3) ==
          "test.toml:6:14: 'arithmetic' is \"ns3\", whose order of simultaneous events is packet "
          "mode's only; modes hybrid and wormhole need \"exact\"");
    CHECK(error_of(kStar + ns3) == "no error");
    CHECK(error_of(kHybrid) == "no error");
}
