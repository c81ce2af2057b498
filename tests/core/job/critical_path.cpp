// SPDX-License-Identifier: Apache-2.0
/// What bounds a job: small jobs by hand, and sums that hold on random ones.
#include <doctest/doctest.h>

#include <numeric>

#include "core/job/critical_path.h"
#include "core/job/workload.h"
#include "tests/support/fake_engine.h"
#include "tests/support/job_random.h"

using namespace sluice;

namespace {

constexpr Tick us = kMicrosecond;

Workload run(JobGraph graph) {
    const RankId ranks = graph.rank_count();
    Workload work = make_workload(std::move(graph), fake::hosts(ranks));
    fake::Engine(*work.application, work.flows, ranks).run();
    REQUIRE(work.application->complete());
    return work;
}

Tick sum(const RankTimes& times) {
    return std::accumulate(times.exposed.begin(), times.exposed.end(), Tick{0}) + times.compute +
           times.waiting + times.idle;
}

Tick exposed(const RankTimes& times, OpClass cls) {
    return times.exposed[static_cast<std::size_t>(cls)];
}

}  // namespace

TEST_CASE("unit.critical_path.a_pipeline_of_two_by_hand") {
    // Rank 0 computes 10 us and sends 100 kB (8 us + 1 us); rank 1 computes 5 us when it has them,
    // meets rank 0 (20 us), and rank 0 computes 3 us more.
    JobGraph graph(2);
    const Label work = {graph.intern("gemm"), OpClass::compute, kNone};
    const OpId first = graph.add_compute(0, 10 * us, work);
    const JobGraph::Pair message =
        graph.add_message(0, 1, 100'000, {graph.intern("act"), OpClass::pp, kNone});
    graph.add_dependency(message.from, first);
    const OpId second = graph.add_compute(1, 5 * us, work);
    graph.add_dependency(second, message.to);
    const OpId meet = graph.add_meet({0, 1}, 20 * us, {graph.intern("ar"), OpClass::tp, kNone});
    graph.add_dependency(meet, first);
    graph.add_dependency(meet + 1, second);
    const OpId third = graph.add_compute(0, 3 * us, work);
    graph.add_dependency(third, meet);
    graph.finish();
    const Workload job = run(std::move(graph));
    const JobTiming timing(*job.application, 0);
    CHECK(timing.end() == (10 + 9 + 5 + 20 + 3) * us);

    const std::vector<CriticalStep> path = timing.critical_path();
    REQUIRE(path.size() == 5);
    CHECK(path[0].op == third);
    CHECK(path[1].start == 24 * us);
    CHECK(path[1].end == 44 * us);
    CHECK(path[2].op == second);
    CHECK(path[3].op == message.to);
    CHECK(path[3].message == 0);
    CHECK(path[3].start == 10 * us);
    CHECK(path[4].op == first);

    // Rank 0: 13 us compute, the meeting's 20, and 14 us in which rank 1 had not come yet.
    const RankTimes zero = timing.rank_times(0);
    CHECK(zero.compute == 13 * us);
    CHECK(exposed(zero, OpClass::tp) == 20 * us);
    CHECK(zero.waiting == 14 * us);
    CHECK(zero.idle == 0);
    // Rank 1: waits 10 us until rank 0 sends, 9 us of transfer, computes, meets, has no more to do.
    const RankTimes one = timing.rank_times(1);
    CHECK(one.compute == 5 * us);
    CHECK(one.waiting == 10 * us);
    CHECK(exposed(one, OpClass::pp) == 9 * us);
    CHECK(exposed(one, OpClass::tp) == 20 * us);
    CHECK(one.idle == 3 * us);
}

TEST_CASE("unit.critical_path.hidden_communication_is_not_exposed") {
    // A message of 9 us beside 30 us of compute.
    JobGraph graph(2);
    const Label work = {graph.intern("gemm"), OpClass::compute, kNone};
    graph.add_compute(0, 30 * us, work);
    graph.add_compute(1, 30 * us, work);
    graph.add_message(0, 1, 100'000, {graph.intern("grad"), OpClass::dp, kNone});
    graph.finish();
    const Workload job = run(std::move(graph));
    const JobTiming timing(*job.application, 0);
    for (RankId rank = 0; rank < 2; ++rank) {
        CHECK(timing.rank_times(rank).compute == 30 * us);
        CHECK(sum(timing.rank_times(rank)) == 30 * us);
    }
    CHECK(timing.critical_path().size() == 1);
}

TEST_CASE("unit.critical_path.work_without_duration_does_not_hold_itself_up") {
    // One resource, held for 100 us, then taken in turn by two tasks and a pair of acquire and
    // release, all without duration: each of them ends when the others do.
    JobGraph graph(1);
    const Label work = {graph.intern("work"), OpClass::compute, kNone};
    const OpId arrival = graph.add_delay(0, 5 * us, work);
    const OpId release = graph.add_release(0, 0, work);
    const OpId acquire = graph.add_acquire(0, 0, work);
    graph.add_dependency(release, acquire);
    const OpId first = graph.add_task(0, 0, 0, work);
    const OpId second = graph.add_task(0, 0, 0, work);
    for (const OpId op : {acquire, first, second}) graph.add_dependency(op, arrival);
    const OpId holder = graph.add_task(0, 0, 100 * us, work);
    const OpId last = graph.add_delay(0, 10 * us, work);
    for (const OpId op : {release, first, second}) graph.add_dependency(last, op);
    graph.finish();
    const Workload job = run(std::move(graph));
    const std::vector<CriticalStep> path = JobTiming(*job.application, 0).critical_path();
    REQUIRE(path.size() == 2);
    CHECK(path[0].op == last);
    CHECK(path[1].op == holder);
    CHECK(path[1].end == 100 * us);
}

TEST_CASE("unit.critical_path.sums_hold_on_random_jobs") {
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        CAPTURE(seed);
        const RankId ranks = 2 + static_cast<RankId>(seed % 5);
        const Workload job = run(random_job(ranks, seed));
        const JobTiming timing(*job.application, 0);
        Tick at = timing.end();
        for (const CriticalStep& step : timing.critical_path()) {
            CHECK(step.end == at);
            at = step.start;
        }
        CHECK(at == 0);
        for (RankId rank = 0; rank < ranks; ++rank) {
            CHECK(sum(timing.rank_times(rank)) == timing.end());
        }
    }
}
