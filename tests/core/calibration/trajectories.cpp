// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/trajectories.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <ostream>
#include <set>

namespace sluice::hybrid {

namespace {

/// Of flows that advance by `slopes` per tick, `steps` long.
std::shared_ptr<Recording> recording_of(const std::vector<double>& slopes, std::size_t steps,
                                        Tick step = 100) {
    auto made = std::make_shared<Recording>(slopes.size(), step);
    for (std::size_t f = 0; f < slopes.size(); ++f) {
        for (std::size_t i = 1; i <= steps; ++i) {
            made->trajectory->add_advance(f, slopes[f] * static_cast<double>(i * step));
            made->trajectory->add_law(f, slopes[f] + static_cast<double>(i));
        }
    }
    return made;
}

}  // namespace

TEST_CASE("unit.trajectories.advance_and_age_are_inverse") {
    Trajectory one(2, 100);
    double advance = 0;
    for (int i = 1; i <= 50; ++i) {
        advance += 50 + 10.0 * (i % 7);
        one.add_advance(0, advance);
        one.add_advance(1, 2 * advance);
        one.add_law(0, i);
        one.add_law(1, i);
    }
    CHECK(one.reach() == 5000);
    CHECK(one.advance(0, 0) == 0);
    for (double age = 10; age < 6000; age += 37) {
        CHECK(one.age_at(0, one.advance(0, age)) == doctest::Approx(age));
        CHECK(one.advance(1, age) == doctest::Approx(2 * one.advance(0, age)));
    }
    CHECK(one.law(0, 0) == 1);
    CHECK(one.law(0, 1000) == 10);
    CHECK(one.law(0, 1e9) == 50);
}

TEST_CASE("unit.trajectories.a_flow_alone_is_complete_once_its_rate_stays") {
    const auto steps_with = [](double more, Tick settles) {
        Trajectory one(1, 100, Settling{0, settles});
        double advance = 0;
        for (int i = 1; !one.is_complete(); ++i) {
            advance += 90 + more * i;
            one.add_advance(0, advance);
            one.add_law(0, 1);
        }
        return one.reach() / one.step();
    };
    CHECK(steps_with(0, 64) == 64);
    CHECK(steps_with(0.001, 64) == 64);
    CHECK(steps_with(0.01, 64) == 256);
    CHECK(steps_with(0, 154) == 154);
    CHECK(steps_with(0, 0) == 256);
}

TEST_CASE("unit.trajectories.of_flows_that_stand_still_never_come_further") {
    const auto one = recording_of({0.0}, 10);
    CHECK(std::isinf(one->trajectory->age_at(0, 1)));
}

TEST_CASE("unit.trajectories.reach_as_far_as_the_least_that_is_known") {
    Trajectory one(2, 10);
    one.add_advance(0, 1);
    one.add_law(0, 1);
    one.add_advance(1, 1);
    CHECK(one.reach() == 0);
    one.add_law(1, 1);
    CHECK(one.reach() == 10);
    CHECK(one.extended_reach() == 30);
}

TEST_CASE("unit.trajectories.of_a_flow_alone_go_on_as_it_has_settled") {
    CHECK(recording_of({1.0}, 31)->trajectory->extended_reach() == 3300);
    CHECK(recording_of({1.0}, 40)->trajectory->extended_reach() == 4000 + 200 + 500);
    CHECK(recording_of({1.0}, 256)->trajectory->extended_reach() > 1'000'000'000);
    CHECK(recording_of({1.0, 1.0}, 256)->trajectory->extended_reach() == 25'800);
}

TEST_CASE("unit.trajectories.one_flow_alone_is_enough") {
    Trajectories known;
    const std::uint32_t kind = known.kind_of({1, 2, 3});
    CHECK(known.kind_of({1, 2, 3}) == kind);
    CHECK(known.kind_of({1, 2, 4}) != kind);
    known.count(kind);
    CHECK_FALSE(known.wants(kind, 1, 5000));  // it may be the only one
    known.count(kind);
    CHECK(known.wants(kind, 1, 5000));
    auto recording = recording_of({1.0}, 20);
    known.keep(kind, recording);
    CHECK_FALSE(known.wants(kind, 1, 5000));                             // it goes on
    CHECK(known.draw(kind, 1, 2000, 5000, 7) == recording->trajectory);  // as far as it has come
    CHECK(known.draw(kind, 1, 2500, 5000, 7) == nullptr);
    recording.reset();
    CHECK(known.draw(kind, 1, 0, 5000, 7) != nullptr);
    CHECK(known.draw(kind, 1, 1900, 5000, 7) == nullptr);
    // Longer ones are wanted, but only when the kind has proved to be frequent.
    CHECK_FALSE(known.wants(kind, 1, 5000));
    for (int i = 0; i < 2; ++i) {
        known.count(kind);
    }
    CHECK(known.wants(kind, 1, 5000));
    CHECK_FALSE(known.wants(kind, 1, 2000));
    known.keep(kind, recording_of({1.0}, 60));
    CHECK(known.draw(kind, 1, 0, 5000, 7)->reach() == 6000);
}

TEST_CASE("unit.trajectories.of_groups_that_share_ports_all_are_drawn") {
    Trajectories known;
    const std::uint32_t kind = known.kind_of({2});
    known.count(kind);
    CHECK_FALSE(known.wants(kind, 2, 1000));
    known.count(kind);
    for (int i = 0; i < 6; ++i) {
        CHECK(known.draw(kind, 2, 0, 1000, 0) == nullptr);
        CHECK(known.wants(kind, 2, 1000));
        known.keep(kind, recording_of({1.0 + i, 2.0}, 10));
    }
    CHECK_FALSE(known.wants(kind, 2, 1000));
    for (int i = 0; i < 6; ++i) {
        CHECK(known.draw(kind, 2, 0, 1000, static_cast<std::uint64_t>(6 + i))->advance(0, 100) ==
              doctest::Approx(100.0 * (1 + i)));
    }
    // More of them, ever more rarely, up to sixteen.
    std::uint64_t more = 0;
    for (int formed = 0; formed < 100'000; ++formed) {
        known.count(kind);
        if (known.wants(kind, 2, 1000)) {
            known.keep(kind, recording_of({1.0, 2.0}, 10));
            ++more;
        }
    }
    CHECK(more == 10);
}

TEST_CASE("unit.trajectories.are_followed_from_the_second_step_on_while_they_grow") {
    Trajectories known;
    const std::uint32_t kind = known.kind_of({5});
    CHECK_FALSE(known.begins(kind));
    auto growing = recording_of({1.0}, 1);
    known.keep(kind, growing);
    CHECK(known.begins(kind));
    CHECK(known.draw(kind, 1, 400, 5000, 0) == nullptr);
    growing->trajectory->add_advance(0, 200);
    growing->trajectory->add_law(0, 1);
    CHECK_FALSE(known.begins(kind));
    CHECK(known.draw(kind, 1, 400, 5000, 0) == growing->trajectory);
    CHECK(known.goes_on(kind, *growing->trajectory, 600));
    CHECK_FALSE(known.goes_on(kind, *growing->trajectory, 601));
    growing.reset();
    CHECK_FALSE(known.begins(kind));
}

TEST_CASE("unit.trajectories.what_has_settled_goes_on_as_one_that_is_complete") {
    Trajectories known;
    const std::uint32_t kind = known.kind_of({6});
    auto whole = std::make_shared<Recording>(1, 100, Settling{0, 64});
    auto slow = std::make_shared<Recording>(1, 100, Settling{0, 64});
    for (int i = 1; i <= 64; ++i) {
        whole->trajectory->add_advance(0, 90.0 * i);
        whole->trajectory->add_law(0, 1, i % 5);
        if (i <= 32) {  // it has lost ten round trips at the beginning
            slow->trajectory->add_advance(0, i <= 10 ? 0 : 90.0 * (i - 10));
            slow->trajectory->add_law(0, i <= 10 ? 0.5 : 1);
        }
    }
    known.keep(kind, whole);
    CHECK(known.complete(kind) == nullptr);  // it is still being recorded
    const std::shared_ptr<const Trajectory> other = whole->trajectory;
    whole.reset();
    REQUIRE(known.complete(kind) == other);
    CHECK(known.complete(known.kind_of({7})) == nullptr);
    Trajectory& made = *slow->trajectory;
    CHECK_FALSE(made.is_complete());
    made.go_on_as(*other);
    CHECK(made.is_complete());
    CHECK(made.reach() == 6400);
    CHECK(made.advance(0, 500) == 0);
    CHECK(made.law(0, 500) == 0.5);
    for (double age = 1000; age < 1e6; age *= 1.3) {
        CHECK(made.advance(0, age) == doctest::Approx(0.9 * (age - 1000)));
    }
    CHECK(made.stage(0, 4400) == 4);
    CHECK(made.law(0, 4400) == 1);
}

TEST_CASE("unit.trajectories.several_that_have_settled_say_together_how_one_goes_on") {
    // Each has come down in twenty steps, and then does 90 a step, or a part of a per mille more or less.
    Trajectories known;
    const std::uint32_t kind = known.kind_of({8});
    std::vector<std::shared_ptr<Recording>> recordings;
    const auto record = [&](double slope, int steps) {
        auto made = std::make_shared<Recording>(1, 100, Settling{0, 160});
        for (int i = 1; i <= steps; ++i) {
            made->trajectory->add_advance(0, i <= 20 ? 150 * i : 3000 + slope * (i - 20));
            made->trajectory->add_law(0, i <= 20 ? 2 : 1, i % 5);
        }
        known.keep(kind, made);
        recordings.push_back(made);
        return made->trajectory;
    };
    const auto late_steps = [&] {
        LateSteps late;
        known.add_to(late, kind);
        return late;
    };
    record(90, 31);
    CHECK(late_steps().steps == 0);  // its law may not have come down
    const auto first = record(90.03, 40);
    CHECK(late_steps().steps == 16);
    CHECK_FALSE(late_steps().have_settled(160));
    record(89.97, 40);
    CHECK_FALSE(late_steps().have_settled(160));
    record(90, 32);
    CHECK(late_steps().steps == 40);
    CHECK(late_steps().have_settled(160));
    CHECK_FALSE(late_steps().have_settled(164));
    CHECK(late_steps().slope() == doctest::Approx(90).epsilon(0.0001));
    CHECK_FALSE(first->is_complete());
    first->go_on_by(90);
    CHECK(first->is_complete());
    CHECK(first->reach() == 16'000);
    CHECK(first->advance(0, 4'000) == doctest::Approx(3000 + 90.03 * 20));
    CHECK(first->advance(0, 100'000) == doctest::Approx(3000 + 90.03 * 20 + 90.0 * 960));
    CHECK(first->law(0, 15'000) == 1);
    CHECK(first->stage(0, 4'100) == 1);  // as ten steps before
}

TEST_CASE("unit.trajectories.what_still_moves_has_not_settled") {
    Trajectory one(1, 100, Settling{0, 64});
    for (int i = 1; i <= 64; ++i) {
        one.add_advance(0, 90 * i + 0.003 * i * i);
        one.add_law(0, 1);
    }
    LateSteps late;
    one.add_to(late);
    CHECK(late.steps == 40);
    CHECK_FALSE(late.have_settled(64));
}

TEST_CASE("unit.trajectories.beyond_a_short_one_its_last_steps_count") {
    Trajectory one(1, 100);
    for (int i = 1; i <= 8; ++i) {
        one.add_advance(0, i <= 6 ? 50 * i : 300 + 100 * (i - 6));  // its law jumps
        one.add_law(0, 1);
    }
    CHECK(one.advance(0, 900) == doctest::Approx(600));
}

TEST_CASE("unit.trajectories.tell_the_stage_of_a_law") {
    Trajectory one(1, 100);
    CHECK(one.stage(0, 100) == 0);
    for (int i = 1; i <= 40; ++i) {
        one.add_advance(0, 100 * i);
        one.add_law(0, 1, i % 6);
    }
    CHECK(one.stage(0, 800) == 2);
    // Beyond the end it is anywhere in the last quarter.
    std::set<std::int64_t> seen;
    for (int i = 41; i < 60; ++i) {
        seen.insert(one.stage(0, 100.0 * i));
    }
    CHECK(seen.size() == 6);
}

TEST_CASE("unit.trajectories.that_are_halved_say_the_same_at_every_second_step") {
    Trajectory one(2, 10);
    for (int i = 1; i <= 7; ++i) {
        for (std::size_t f = 0; f < 2; ++f) {
            one.add_advance(f, static_cast<double>(i * i));
            one.add_law(f, i, i);
        }
    }
    one.halve();
    CHECK(one.step() == 20);
    CHECK(one.reach() == 60);
    for (int i = 2; i <= 6; i += 2) {
        CHECK(one.advance(1, 10.0 * i) == doctest::Approx(i * i));
        CHECK(one.law(0, 10.0 * i) == i);
        CHECK(one.stage(0, 10.0 * i) == i);
    }
    one.add_advance(0, 64);
    one.add_advance(1, 64);
    CHECK(one.advance(0, 80) == doctest::Approx(64));
}

TEST_CASE("unit.trajectories.of_large_groups_are_complete_once_they_have_settled") {
    constexpr std::size_t kFlows = kFewFlows + 1;
    // Of the first half of the flows ever faster, by `more` a step.
    const auto steps_until_complete = [&](double more, std::size_t settles) {
        Trajectory one(kFlows, 10, Settling{1000, static_cast<Tick>(settles)});
        std::size_t steps = 0;
        for (double advance = 0; !one.is_complete(); ++steps) {
            advance += 10 * (1 + more * static_cast<double>(steps));
            for (std::size_t f = 0; f < kFlows; ++f) {
                one.add_advance(f, advance);
                one.add_law(f, 1);
            }
        }
        return steps;
    };
    CHECK(steps_until_complete(0, 64) == 64);
    CHECK(steps_until_complete(0, 128) == 128);
    CHECK(steps_until_complete(0.001, 64) == 256);
    CHECK(steps_until_complete(0, 0) == 256);
}

TEST_CASE("unit.trajectories.rates_of_a_large_group_come_to_one_beyond_its_end") {
    constexpr std::size_t kFlows = kFewFlows + 1;
    constexpr double kConvergence = 400;
    Trajectory one(kFlows, 10, Settling{kConvergence, 64});
    for (int step = 1; step <= 64; ++step) {
        for (std::size_t f = 0; f < kFlows; ++f) {
            // One has seven tenths more than the others, so that the mean is 1.1.
            one.add_advance(f, (f == 0 ? 1.7 : 1.0) * 10 * step);
            one.add_law(f, 1);
        }
    }
    const auto rate = [&](std::size_t flow, double age) {
        return one.advance(flow, age + 1) - one.advance(flow, age);
    };
    // The mean of the later half is that of a quarter before the end.
    const double excess = 0.6 * std::exp(-160 / kConvergence);
    CHECK(rate(0, 640) == doctest::Approx(1.1 + excess).epsilon(1e-2));
    CHECK(rate(0, 640 + kConvergence) == doctest::Approx(1.1 + excess / std::exp(1)).epsilon(1e-2));
    CHECK(rate(0, 640 + 20 * kConvergence) == doctest::Approx(1.1).epsilon(1e-2));
    CHECK(rate(3, 640 + 20 * kConvergence) == doctest::Approx(1.1).epsilon(1e-2));
    for (const double age : {700.0, 1000.0, 3000.0, 30'000.0}) {
        CHECK(one.age_at(0, one.advance(0, age)) == doctest::Approx(age).epsilon(2e-3));
        CHECK(one.age_at(3, one.advance(3, age)) == doctest::Approx(age).epsilon(2e-3));
    }
    CHECK(one.extended_reach() > kSecond);
}

TEST_CASE("unit.trajectories.a_flow_may_keep_its_rate") {
    constexpr std::size_t kFlows = kFewFlows + 1;
    // One flow is twice as fast, and its law falls by `less` a step although its NIC lets no more through.
    const auto recorded = [&](double less, bool keeps) {
        Trajectory one(kFlows, 10, Settling{400, 64});
        if (keeps) {
            one.keep_rate(0);
        }
        for (int step = 1; step <= 64; ++step) {
            for (std::size_t f = 0; f < kFlows; ++f) {
                one.add_advance(f, (f == 0 ? 2.0 : 1.0) * 10 * step);
                one.add_law(f, f == 0 ? 3.0 - less * step : 1.0);
            }
        }
        return one;
    };
    const auto rate = [](const Trajectory& one, std::size_t flow) {
        return one.advance(flow, 20'001) - one.advance(flow, 20'000);
    };
    const Trajectory kept = recorded(0, true);
    CHECK(kept.is_complete());
    CHECK(rate(kept, 0) == doctest::Approx(2));
    CHECK(rate(kept, 1) == doctest::Approx(1));
    CHECK(kept.age_at(0, kept.advance(0, 3000)) == doctest::Approx(3000));
    const double mean = 1 + 1.0 / kFlows;
    CHECK(rate(recorded(0, false), 0) == doctest::Approx(mean).epsilon(1e-3));
    CHECK(rate(recorded(0, false), 1) == doctest::Approx(mean).epsilon(1e-3));
    // Only its law shows that it has not settled.
    CHECK_FALSE(recorded(0.01, true).is_complete());
    CHECK(recorded(0.01, false).is_complete());
}

TEST_CASE("unit.trajectories.of_large_groups_are_followed_while_they_grow") {
    constexpr std::size_t kFlows = kFewFlows + 1;
    const std::vector<double> slopes(kFlows, 1.0);
    Trajectories known;
    const std::uint32_t kind = known.kind_of({3});
    known.count(kind);
    CHECK_FALSE(known.wants(kind, kFlows, 5000));
    known.count(kind);
    CHECK(known.wants(kind, kFlows, 5000));
    auto growing = recording_of(slopes, 10);
    known.keep(kind, growing);
    CHECK_FALSE(known.wants(kind, kFlows, 5000));  // one of two, two of four, three of nine
    CHECK(known.grows(kind, *growing->trajectory));
    CHECK(known.draw(kind, kFlows, 1000, 5000, 0) == growing->trajectory);
    CHECK(known.draw(kind, kFlows, 2000, 5000, 0) == nullptr);  // nobody has come as far
    const std::shared_ptr<const Trajectory> cut_short = growing->trajectory;
    growing.reset();
    CHECK_FALSE(known.grows(kind, *cut_short));
    CHECK(known.draw(kind, kFlows, 0, 5000, 0) == cut_short);  // better than none
    known.count(kind);
    known.count(kind);
    CHECK(known.wants(kind, kFlows, 5000));
    known.keep(kind, recording_of(slopes, 50));
    for (std::uint64_t draw = 0; draw < 4; ++draw) {
        CHECK(known.draw(kind, kFlows, 0, 5000, draw)->reach() == 5000);
    }
}

TEST_CASE("unit.trajectories.the_shortest_of_a_large_group_gives_way") {
    const std::vector<double> slopes(kFewFlows + 1, 1.0);
    Trajectories known;
    const std::uint32_t kind = known.kind_of({4});
    for (std::size_t steps = 5; steps < 45; ++steps) {
        known.keep(kind, recording_of(slopes, steps));
    }
    for (std::uint64_t draw = 0; draw < 16; ++draw) {
        CHECK(known.draw(kind, slopes.size(), 0, 2000, draw)->reach() >= 2900);
    }
}

}  // namespace sluice::hybrid
