// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <numeric>

#include "core/error.h"
#include "core/job/job_report.h"
#include "core/job/workload.h"
#include "tests/support/fake_engine.h"
#include "tests/support/plain_collectives.h"

using namespace sluice;

namespace {

constexpr Tick kLatency = kMicrosecond;

Members members(std::vector<RankId> ranks) {
    Members result;
    result.after.assign(ranks.size(), kNone);
    result.ranks = std::move(ranks);
    return result;
}

CollectiveSpec spec(std::int64_t bytes) { return {"test", "group", OpClass::dp, bytes}; }

/// Runs on `hosts` hosts; the last of `done` completes at the returned instant.
Tick run(Workload& work, std::size_t hosts, const std::vector<OpId>& done) {
    fake::Engine(*work.application, work.flows, hosts, kLatency).run();
    REQUIRE(work.application->complete());
    Tick last = 0;
    for (const OpId op : done) last = std::max(last, work.application->end(op));
    return last;
}

}  // namespace

TEST_CASE("unit.collectives.ring_all_reduce_closed_form") {
    // 2 (n - 1) steps, each of S / n bytes at 100 Gb/s plus the latency.
    for (const std::size_t n : {2U, 3U, 8U}) {
        const auto count = static_cast<std::int64_t>(n);
        const std::int64_t bytes = 48'000 * count;
        JobGraph graph(static_cast<RankId>(n));
        std::vector<RankId> ranks(n);
        std::iota(ranks.begin(), ranks.end(), 0U);
        const std::vector<OpId> done = plain::ring_all_reduce(graph, spec(bytes), members(ranks));
        graph.finish();
        Workload work = make_workload(std::move(graph), fake::hosts(n));
        CHECK(work.flows.size() == 2 * (n - 1) * n);
        CHECK(run(work, n, done) == 2 * (count - 1) * (48'000 * fake::kTicksPerByte + kLatency));
    }
}

TEST_CASE("unit.collectives.reduce_scatter_and_all_gather_closed_forms") {
    // n - 1 steps each; the all-gather starts where the reduce-scatter of its rank ended.
    JobGraph graph(4);
    const Members all = members({0, 1, 2, 3});
    Members after = all;
    after.after = plain::ring_reduce_scatter(graph, spec(4000), all);
    const std::vector<OpId> done = plain::ring_all_gather(graph, spec(2000), after);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(4));
    CHECK(work.flows.size() == 24);
    CHECK(run(work, 4, done) ==
          3 * (1000 * fake::kTicksPerByte + kLatency) + 3 * (500 * fake::kTicksPerByte + kLatency));
    const std::vector<CollectiveSpan> spans = collective_spans(*work.application);
    REQUIRE(spans.size() == 2);
    CHECK(spans[0].sent == 3 * 4000);
    CHECK(spans[1].sent == 3 * 2000);
    CHECK(work.application->graph().collectives()[0].members == 4);
}

TEST_CASE("unit.collectives.every_member_receives_every_other_part_once") {
    // 10 bytes over 4 members: parts 3, 3, 2, 2. In an all-gather a member receives all but its
    // own part; member i begins with part i: 10 - {3, 3, 2, 2}.
    JobGraph graph(4);
    plain::ring_all_gather(graph, spec(10), members({0, 1, 2, 3}));
    graph.finish();
    std::map<RankId, std::int64_t> received;
    for (const JobGraph::Message& message : graph.messages()) {
        received[graph.rank(message.recv)] += message.bytes;
    }
    CHECK(received[0] == 7);
    CHECK(received[1] == 7);
    CHECK(received[2] == 8);
    CHECK(received[3] == 8);
}

TEST_CASE("unit.collectives.less_than_a_byte_each_still_notifies") {
    // 1 byte over 3 members: parts 1, 0, 0, all sent as 1 byte; 4 steps of 3 flows.
    JobGraph graph(3);
    plain::ring_all_reduce(graph, spec(1), members({0, 1, 2}));
    graph.finish();
    CHECK(graph.messages().size() == 12);
    for (const JobGraph::Message& message : graph.messages()) CHECK(message.bytes == 1);
}

TEST_CASE("unit.collectives.sub_groups_run_side_by_side") {
    // Ranks {1, 4, 6} and {0, 5} of 8 reduce at once: 4 steps of 100 B and 2 of 150 B.
    JobGraph graph(8);
    const std::vector<OpId> first = plain::ring_all_reduce(graph, spec(300), members({1, 4, 6}));
    const std::vector<OpId> second = plain::ring_all_reduce(graph, spec(300), members({0, 5}));
    graph.finish();
    for (const OpId op : first) {
        const RankId rank = graph.rank(op);
        CHECK((rank == 1 || rank == 4 || rank == 6));
    }
    Workload work = make_workload(std::move(graph), fake::hosts(8));
    CHECK(run(work, 8, first) == 4 * (100 * fake::kTicksPerByte + kLatency));
    CHECK(run(work, 8, second) == 2 * (150 * fake::kTicksPerByte + kLatency));
    CHECK(rank_spans(*work.application, 2).empty());
    CHECK(rank_spans(*work.application, 4).size() == 1);
}

TEST_CASE("unit.collectives.late_member_holds_up_only_what_depends_on_it") {
    // Member 0 starts at 10 us. Member 1's first send needs nobody: it starts at once; its second
    // needs member 0's part, so everyone is done two steps after 10 us.
    JobGraph graph(3);
    Members group = members({0, 1, 2});
    group.after[0] = graph.add_delay(0, 10 * kMicrosecond, {});
    const std::vector<OpId> done = plain::ring_reduce_scatter(graph, spec(300), group);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(3));
    const Tick step = 100 * fake::kTicksPerByte + kLatency;
    CHECK(run(work, 3, done) == 10 * kMicrosecond + 2 * step);
    const JobGraph& made = work.application->graph();
    CHECK(made.rank(made.messages()[1].send) == 1);
    CHECK(work.application->start(made.messages()[1].send) == 0);
}

TEST_CASE("unit.collectives.one_member_does_nothing") {
    JobGraph graph(2);
    Members alone = members({1});
    alone.after[0] = graph.add_delay(1, 5, {});
    CHECK(plain::ring_all_reduce(graph, spec(100), alone) == alone.after);
    CHECK(plain::ring_reduce_scatter(graph, spec(100), alone) == alone.after);
    CHECK(plain::ring_all_gather(graph, spec(100), alone) == alone.after);
    CHECK(plain::all_to_all(graph, spec(100), alone) == alone.after);
    CHECK(graph.op_count() == 1);
}

TEST_CASE("unit.collectives.all_to_all_at_once") {
    // 4 members send 3 parts of 250 B each, all at once: without contention one step.
    JobGraph graph(4);
    const std::vector<OpId> done = plain::all_to_all(graph, spec(1000), members({0, 1, 2, 3}));
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(4));
    CHECK(work.flows.size() == 12);
    CHECK(run(work, 4, done) == 250 * fake::kTicksPerByte + kLatency);
    CHECK(collective_spans(*work.application)[0].sent == 12 * 250);
}

TEST_CASE("unit.collectives.all_to_all_with_a_window") {
    // One unfinished send each: the third starts after two that took transfer + 2 latencies.
    JobGraph graph(4);
    const std::vector<OpId> done = plain::all_to_all(graph, spec(1000), members({0, 1, 2, 3}), 1);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(4));
    const Tick transfer = 250 * fake::kTicksPerByte;
    CHECK(run(work, 4, done) == 2 * (transfer + 2 * kLatency) + transfer + kLatency);
}

TEST_CASE("unit.collectives.refuses_bad_groups") {
    JobGraph graph(4);
    CHECK_THROWS_AS(plain::ring_all_reduce(graph, spec(0), members({0, 1})), ConfigError);
    CHECK_THROWS_AS(plain::ring_all_reduce(graph, spec(100), members({0, 1, 0})), ConfigError);
    CHECK_THROWS_AS(plain::all_to_all(graph, spec(100), members({0, 9})), ConfigError);
    CHECK_THROWS_AS(plain::point_to_point(graph, spec(100), 2, 2, kNone), ConfigError);
    CHECK_THROWS_AS(plain::ring_all_gather(graph, spec(100), Members{{0, 1}, {kNone}}),
                    InternalError);
}
