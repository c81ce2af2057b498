// SPDX-License-Identifier: Apache-2.0
/// The rules that a scenario chooses: admission, scheduler and marking, one by one and in a network.
/// That all drivers agree under them is part of the random tests (tests/support/step_random.h).
#include "core/packet/policies/policies.h"

#include "tests/support/star_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

PortId sink_port(const Case& given) {
    return given.topology.peer_of(given.topology.first_port(given.topology.hosts().back()));
}

}  // namespace

TEST_CASE("unit.step.policies.thresholds_by_hand") {
    BufferConfig buffer;
    buffer.egress_alpha = 0.5;
    buffer.static_threshold = Bytes{10'000};
    step::Ingress ingress;
    ingress.threshold_shift = 2;
    CHECK(step::DynamicThreshold::ingress_limit(buffer, ingress, 100'003) == 25'000);
    CHECK(step::DynamicThreshold::ingress_limit(buffer, ingress, -5) == 0);
    CHECK(step::DynamicThreshold::egress_limit(buffer, 30'000) == 15'000);
    CHECK(step::StaticThreshold::ingress_limit(buffer, ingress, 100'003) == 10'000);
    CHECK(step::StaticThreshold::ingress_limit(buffer, ingress, 9'999) == 9'999);
    CHECK(step::StaticThreshold::ingress_limit(buffer, ingress, -5) == 0);
    CHECK(step::StaticThreshold::egress_limit(buffer, 30'000) == 10'000);
    buffer.egress_alpha = 0;
    CHECK(step::DynamicThreshold::egress_limit(buffer, 1) == step::kNoLimit);
}

TEST_CASE("unit.step.policies.limits_shrink_with_the_pool_and_stay_within_it") {
    // What quiet windows and occupancy bounds rely on.
    BufferConfig buffer;
    buffer.static_threshold = Bytes{4'000};
    step::Ingress ingress;
    step::World world;
    NetworkConfig config;
    config.buffer = buffer;
    world.config = &config;
    for (const std::pair<const char*, Admission>& entry : admission_words()) {
        CAPTURE(entry.first);
        config.buffer.admission = entry.second;
        std::int64_t before = 0;
        for (std::int64_t left = -2'000; left < 50'000; left += 37) {
            const std::int64_t limit = step::ScenarioPolicies::ingress_limit(world, ingress, left);
            CHECK(limit >= before);
            CHECK(limit <= std::max<std::int64_t>(left, 0));
            before = limit;
        }
    }
}

TEST_CASE("unit.step.policies.static_threshold_bounds_a_queue_without_pfc") {
    Case given = classes_to_one({3, 3, 3, 3}, 500'000);
    given.config.pfc = false;
    given.config.nic.retransmit_timeout = 100 * kMicrosecond;
    given.config.buffer.egress_alpha = 0;
    const Outcome free = run_windows(given);
    CHECK(free.counters.drops == 0);
    given.config.buffer.admission = Admission::static_threshold;
    given.config.buffer.static_threshold = Bytes{100'000};
    const Outcome bounded = run_windows(given);
    const std::int64_t most = bounded.ports[sink_port(given)].max_queue_bytes;
    CHECK(most <= 100'000);
    CHECK(most > 100'000 - 1048);
    CHECK(bounded.counters.drops > 0);
    check_same(bounded, run_windows(given, true));
    check_same(bounded, run_oracle(given));
}

TEST_CASE("unit.step.policies.static_threshold_pauses_with_pfc") {
    Case given = classes_to_one({3, 3, 3, 3}, 500'000);
    given.config.buffer.alpha_shift = 0;
    CHECK(run_windows(given).counters.pfc_pauses == 0);
    given.config.buffer.admission = Admission::static_threshold;
    given.config.buffer.static_threshold = Bytes{50'000};
    const Outcome bounded = run_windows(given);
    CHECK(bounded.counters.pfc_pauses > 0);
    CHECK(bounded.counters.drops == 0);
    // Four ingresses with their thresholds, reserves, and what comes until a pause is obeyed:
    // 2 us of cable both ways and some frames.
    const std::int64_t late = 2 * 12'500 + 4 * 1048 + 8 * 43;
    CHECK(bounded.ports[sink_port(given)].max_queue_bytes < 4 * (50'000 + 4096 + late));
    check_same(bounded, run_windows(given, true));
    check_same(bounded, run_oracle(given));
}

TEST_CASE("unit.step.policies.strict_scheduler_serves_the_lower_class_first") {
    // Two classes arrive at twice the rate of the port, 2000 packets each. By turns both end
    // together; strictly the lower class ends as if it were alone.
    Case given = classes_to_one({2, 1}, 2'000'000);
    const Outcome turns = run_windows(given);
    CHECK(std::abs(turns.flows[0].received - turns.flows[1].received) <= 2 * kFrame);
    given.config.queues.scheduler = Scheduler::strict_priority;
    const Outcome strict = run_windows(given);
    const Tick alone = 2 * kMicrosecond + kFrame + 2000 * kFrame;
    CHECK(strict.flows[1].received >= alone);
    CHECK(strict.flows[1].received <= alone + 2 * kFrame);  // a frame of the other is on the wire
    CHECK(strict.flows[0].received >= alone + 1990 * kFrame);
    check_same(strict, run_windows(given, true));
    check_same(strict, run_oracle(given));
}

TEST_CASE("unit.step.policies.threshold_marking_begins_at_kmin") {
    step::World world;
    NetworkConfig config;
    world.config = &config;
    step::Egress egress;
    egress.ecn_kmin = 10'000;
    egress.ecn_kmax = 20'000;
    egress.ecn_pmax = 0;
    const auto marks = [&](std::uint32_t backlog) {
        return step::ScenarioPolicies::marks(world, 0, egress, backlog);
    };
    CHECK_FALSE(marks(10'000));
    CHECK_FALSE(marks(20'000));  // with probability 0
    CHECK(marks(20'001));
    CHECK(egress.ecn_draws == 1);
    config.marking = Marking::threshold_marking;
    CHECK_FALSE(marks(9'999));
    CHECK(marks(10'000));
    CHECK(marks(20'000));
    CHECK(egress.ecn_draws == 1);
    egress.ecn_kmin = 0xffffffff;  // no marking at this port
    CHECK_FALSE(marks(0xfffffffe));
}

TEST_CASE("unit.step.policies.threshold_marking_marks_a_standing_queue") {
    Case given = classes_to_one({3, 3}, 1'000'000);
    given.config.ecn.points = {
        EcnPoint{gigabits_per_second(100), Bytes{100'000}, Bytes{200'000'000}, 0}};
    CHECK(run_windows(given).counters.ecn_marks == 0);
    given.config.marking = Marking::threshold_marking;
    const Outcome marked = run_windows(given);
    // 2000 packets; the queue grows by one for each two that arrive, and then shrinks: at least
    // 100,000 bytes remain but for the first and last 96 or so.
    const std::int64_t marks = marked.ports[sink_port(given)].ecn_marks;
    CHECK(marks > 2000 - 2 * 100 - 4);
    CHECK(marks < 2000 - 2 * 90);
    check_same(marked, run_oracle(given));
}

TEST_CASE("unit.step.policies.words") {
    std::vector<std::string> words;
    for (const auto& [word, rule] : admission_words()) {
        words.emplace_back(word);
    }
    for (const auto& [word, rule] : scheduler_words()) {
        words.emplace_back(word);
    }
    for (const auto& [word, rule] : marking_words()) {
        words.emplace_back(word);
    }
    CHECK(words ==
          std::vector<std::string>{"dynamic", "static", "dwrr", "strict", "red", "threshold"});
}
