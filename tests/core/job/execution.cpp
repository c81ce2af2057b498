// SPDX-License-Identifier: Apache-2.0
/// Meetings, resources, and compute that communication slows.
#include <doctest/doctest.h>

#include <string>

#include "core/job/job_checks.h"
#include "core/job/job_report.h"
#include "core/job/workload.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/job_random.h"

using namespace sluice;

namespace {

constexpr Tick kLatency = kMicrosecond;

Label label(JobGraph& graph, const char* name, OpClass cls) {
    return {graph.intern(name), cls, kNone};
}

/// Runs on the fake engine: a flow of n bytes is received n x 80 ps + 1 us after its start.
Workload run(JobGraph graph) {
    const RankId ranks = graph.rank_count();
    Workload work = make_workload(std::move(graph), fake::hosts(ranks));
    fake::Engine(*work.application, work.flows, ranks).run();
    return work;
}

}  // namespace

TEST_CASE("unit.job_execution.a_meeting_ends_together_after_the_last_start") {
    JobGraph graph(3);
    const Label tp = label(graph, "all-reduce", OpClass::tp);
    std::vector<OpId> before;
    for (RankId r = 0; r < 3; ++r) {
        before.push_back(graph.add_compute(r, (5 + 3 * r) * kMicrosecond,
                                           label(graph, "gemm", OpClass::compute)));
    }
    const OpId first = graph.add_meet({2, 0, 1}, 20 * kMicrosecond, tp);
    graph.add_dependency(first, before[2]);
    graph.add_dependency(first + 1, before[0]);
    graph.add_dependency(first + 2, before[1]);
    graph.finish();
    check_signals(graph, kLatency);
    const Workload work = run(std::move(graph));
    // Starts at 5, 8 and 11 us: all end at 11 + 20.
    CHECK(work.application->start(first + 1) == 5 * kMicrosecond);
    for (OpId part = first; part < first + 3; ++part) {
        CHECK(work.application->end(part) == 31 * kMicrosecond);
    }
    CHECK(work.application->complete());
}

TEST_CASE("unit.job_execution.a_meeting_quicker_than_two_lookaheads_is_refused") {
    JobGraph graph(2);
    graph.add_meet({0, 1}, 3 * kMicrosecond, label(graph, "x", OpClass::tp));
    graph.finish();
    check_signals(graph, 1500 * kNanosecond);
    CHECK(error_of([&] { check_signals(graph, 1501 * kNanosecond); }).find("at least 3002ns") !=
          std::string::npos);
}

TEST_CASE("unit.job_execution.a_cycle_through_a_meeting_is_found") {
    // Rank 1's part waits for a message that rank 0 sends after the meeting.
    JobGraph graph(2);
    const Label tp = label(graph, "m", OpClass::tp);
    const OpId first = graph.add_meet({0, 1}, kMillisecond, tp);
    const JobGraph::Pair message = graph.add_message(0, 1, 10, tp);
    graph.add_dependency(message.from, first);
    graph.add_dependency(first + 1, message.to);
    const std::string error = error_of([&] { graph.finish(); });
    CHECK(error.find("wait for each other in a cycle") != std::string::npos);
    CHECK(error.find("rank 0 meet") != std::string::npos);
    CHECK(error.find("rank 1 recv") != std::string::npos);
}

TEST_CASE("unit.job_execution.a_resource_serves_what_was_added_first") {
    JobGraph graph(1);
    const Label other = label(graph, "t", OpClass::other);
    // All but the last are ready at 0: 3 us each on one resource, in order of addition; the second
    // resource is free at once.
    const OpId a = graph.add_task(0, 0, 3 * kMicrosecond, other);
    const OpId b = graph.add_task(0, 0, 3 * kMicrosecond, other);
    const OpId c = graph.add_task(0, 0, 3 * kMicrosecond, other);
    const OpId d = graph.add_task(0, 1, kMicrosecond, other);
    graph.add_dependency(a, d);  // ready at 1 us, when b holds the resource: before c
    graph.finish();
    const Workload work = run(std::move(graph));
    CHECK(work.application->start(d) == 0);
    CHECK(work.application->start(b) == 0);
    CHECK(work.application->start(a) == 3 * kMicrosecond);
    CHECK(work.application->start(c) == 6 * kMicrosecond);
    CHECK(work.application->last_end() == 9 * kMicrosecond);
}

TEST_CASE("unit.job_execution.what_lies_between_acquire_and_release_holds_the_resource") {
    JobGraph graph(2);
    const Label other = label(graph, "t", OpClass::other);
    const OpId take = graph.add_acquire(0, 5, other);
    const JobGraph::Pair message = graph.add_message(0, 1, 1000, other);
    const OpId free = graph.add_release(0, 5, other);
    const OpId next = graph.add_task(0, 5, kMicrosecond, other);
    graph.add_dependency(message.from, take);
    graph.add_dependency(free, message.from);
    graph.finish();
    const Workload work = run(std::move(graph));
    // 1000 bytes: 80 ns + 1 us there, 1 us for the acknowledgement.
    CHECK(work.application->start(next) == 2080 * kNanosecond);
}

TEST_CASE("unit.job_execution.a_counted_resource_goes_to_those_that_wait_as_they_come") {
    // Two places. The one added last comes first; the others come at 1, 2 and 3 us and stay 10 us.
    JobGraph graph(1);
    const Label other = label(graph, "t", OpClass::other);
    graph.make_counted(3, {2, 2});
    std::vector<OpId> places;
    for (const int comes : {3, 2, 1, 0}) {
        const OpId come = graph.add_delay(0, comes * kMicrosecond, other);
        const OpId take = graph.add_acquire(0, 3, other);
        const OpId stay = graph.add_delay(0, 10 * kMicrosecond, other);
        const OpId give = graph.add_release(0, 3, other);
        graph.add_dependency(take, come);
        graph.add_dependency(stay, take);
        graph.add_dependency(give, stay);
        places.push_back(take);
    }
    graph.finish();
    const Workload job = run(std::move(graph));
    CHECK(job.application->complete());
    CHECK(job.application->start(places[3]) == 0);
    CHECK(job.application->start(places[2]) == kMicrosecond);
    CHECK(job.application->start(places[1]) == 10 * kMicrosecond);
    CHECK(job.application->start(places[0]) == 11 * kMicrosecond);
}

TEST_CASE("unit.job_execution.releases_are_counted_as_far_as_the_resource_keeps_them") {
    // Released at 1 us and 2 us, wanted at 5 us: one that keeps them has one at once, the one that
    // keeps none waits for the release at 7 us.
    JobGraph graph(1);
    const Label other = label(graph, "t", OpClass::other);
    graph.make_counted(0, {0, 5});
    graph.make_counted(1, {0, 0});
    std::vector<OpId> takes;
    for (const RankResourceId resource : {0U, 1U}) {
        for (const int at : {1, 2, 7}) {
            graph.add_dependency(graph.add_release(0, resource, other),
                                 graph.add_delay(0, at * kMicrosecond, other));
        }
        takes.push_back(graph.add_acquire(0, resource, other));
        graph.add_dependency(takes.back(), graph.add_delay(0, 5 * kMicrosecond, other));
    }
    graph.finish();
    const Workload job = run(std::move(graph));
    CHECK(job.application->complete());
    CHECK(job.application->start(takes[0]) == 5 * kMicrosecond);
    CHECK(job.application->start(takes[1]) == 7 * kMicrosecond);
}

TEST_CASE("unit.job_execution.tasks_without_duration_give_their_resource_on") {
    // Nothing depends on these tasks: only the resource that each gives back starts the next one.
    JobGraph graph(1);
    const Label work = label(graph, "work", OpClass::compute);
    for (int i = 0; i < 3; ++i) graph.add_task(0, 0, 0, work);
    graph.add_task(0, 0, 5 * kMicrosecond, work);
    const OpId last = graph.add_task(0, 0, 0, work);
    graph.finish();
    const Workload job = run(std::move(graph));
    CHECK(job.application->complete());
    CHECK(job.application->end(last) == 5 * kMicrosecond);
}

TEST_CASE("unit.job_execution.a_release_of_what_no_acquire_holds_is_refused") {
    // It would free the resource under the task that runs.
    JobGraph graph(1);
    const Label other = label(graph, "t", OpClass::other);
    const OpId wait = graph.add_delay(0, kMicrosecond, other);
    graph.add_task(0, 0, 5 * kMicrosecond, other);
    const OpId free = graph.add_release(0, 0, other);
    graph.add_dependency(free, wait);
    graph.finish();
    CHECK_THROWS_AS(run(std::move(graph)), InternalError);
}

TEST_CASE("unit.job_execution.an_acquire_without_release_blocks_and_is_reported") {
    JobGraph graph(1);
    const Label other = label(graph, "t", OpClass::other);
    graph.add_acquire(0, 0, label(graph, "keeper", OpClass::other));
    const OpId next = graph.add_task(0, 0, kMicrosecond, other);
    graph.finish();
    const Workload work = run(std::move(graph));
    CHECK(!work.application->complete());
    const auto blocked = unfinished(*work.application);
    REQUIRE(blocked.size() == 1);
    CHECK(blocked[0].op == next);
    CHECK(blocked[0].text.find("waits for resource 0, held by rank 0 acquire \"keeper\"") !=
          std::string::npos);
}

TEST_CASE("unit.job_execution.a_missing_part_of_a_meeting_is_reported") {
    JobGraph graph(2);
    const Label tp = label(graph, "reduce", OpClass::tp);
    const JobGraph::Pair lost = graph.add_message(0, 1, 10, tp);
    const OpId first = graph.add_meet({0, 1}, kMillisecond, tp);
    graph.add_dependency(first + 1, lost.to);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(2));
    fake::Engine engine(*work.application, work.flows, 2);
    engine.lost.insert(0);
    engine.run();
    std::string all;
    for (const BlockedOperation& blocked : unfinished(*work.application)) {
        all += blocked.text + "\n";
    }
    CHECK(all.find("rank 0 meet \"reduce\" (operation 2) waits for rank 1 meet \"reduce\"") !=
          std::string::npos);
}

TEST_CASE("unit.job_execution.communication_slows_compute_by_the_stated_factor") {
    // 10 us of compute; a send of 1000 B is in progress from 0 to 2.08 us (last ACK). Slowed by
    // one half, 2.08 us do 2.08 / 1.5 of work; the rest runs at full speed.
    JobGraph graph(2);
    graph.set_overlap_slowdown(500'000);
    const OpId gemm =
        graph.add_compute(0, 10 * kMicrosecond, label(graph, "gemm", OpClass::compute));
    graph.add_message(0, 1, 1000, label(graph, "pp", OpClass::pp));
    graph.finish();
    const Workload work = run(std::move(graph));
    const Tick busy = 2080 * kNanosecond;
    const Tick done = busy * 2 / 3;  // rounded down: work is never done early
    CHECK(work.application->end(gemm) == busy + 10 * kMicrosecond - done);
    CHECK(work.application->complete());
}

TEST_CASE("unit.job_execution.each_operation_is_slowed_by_its_own_factor") {
    // As above, by one half, by as much again, not at all; on a silent rank none is.
    JobGraph graph(7);
    graph.set_overlap_slowdown(500'000);
    const auto add = [&](RankId rank) {
        return graph.add_compute(rank, 10 * kMicrosecond, label(graph, "gemm", OpClass::compute));
    };
    const OpId usual = add(0);
    const OpId slow = add(1);
    const OpId free = add(2);
    const OpId alone = add(6);
    graph.set_overlap_slowdown(slow, 1'000'000);
    graph.set_overlap_slowdown(free, 0);
    for (const RankId rank : {0U, 1U, 2U}) {
        graph.add_message(rank, rank + 3, 1000, label(graph, "pp", OpClass::pp));
    }
    graph.finish();
    CHECK(graph.overlap_slowdown(usual) == 500'000);
    CHECK(graph.overlap_slowdown(slow) == 1'000'000);
    CHECK(graph.overlap_slowdown(free) == 0);
    const Workload work = run(std::move(graph));
    const Tick busy = 2080 * kNanosecond;
    CHECK(work.application->end(usual) == busy + 10 * kMicrosecond - busy * 2 / 3);
    CHECK(work.application->end(slow) == busy + 10 * kMicrosecond - busy / 2);
    CHECK(work.application->end(free) == 10 * kMicrosecond);
    CHECK(work.application->end(alone) == 10 * kMicrosecond);
    JobGraph other(1);
    CHECK_THROWS_AS(other.set_overlap_slowdown(0, -1), ConfigError);
}

TEST_CASE("unit.job_execution.what_would_end_after_the_end_of_time_does_not_end") {
    for (const std::int64_t slowdown : {0, 1'000'000}) {
        JobGraph graph(2);
        graph.set_overlap_slowdown(slowdown);
        const Label work = label(graph, "work", OpClass::compute);
        const Tick long_time = 60 * 86'400 * kSecond;  // time is 106 days long
        graph.add_compute(0, long_time, work);
        const OpId second = graph.add_compute(0, long_time, work);
        const JobGraph::Pair pair = graph.add_message(0, 1, 1000, label(graph, "m", OpClass::pp));
        graph.add_dependency(pair.from, second);
        graph.finish();
        const Workload job = run(std::move(graph));
        CHECK(job.application->start(second) == long_time);
        CHECK(job.application->end(second) == kNever);
        CHECK(job.application->start(pair.from) == kNever);
        CHECK(unfinished(*job.application, 1).front().text.find("the end of time") !=
              std::string::npos);
    }
}

TEST_CASE("unit.job_execution.windows_and_threads_give_the_same_times") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const RankId ranks = 2 + static_cast<RankId>(seed % 5);
        const auto times = [&](int driver) {
            Workload work = make_workload(random_job(ranks, seed), fake::hosts(ranks));
            fake::Engine engine(*work.application, work.flows, ranks);
            if (driver == 0) engine.run();
            if (driver > 0) engine.run_windows(driver == 2);
            CHECK(work.application->complete());
            std::vector<Tick> all;
            for (OpId op = 0; op < work.application->graph().op_count(); ++op) {
                all.push_back(work.application->start(op));
                all.push_back(work.application->end(op));
            }
            return all;
        };
        const std::vector<Tick> expected = times(0);
        CHECK(times(1) == expected);
        CHECK(times(2) == expected);
    }
}
