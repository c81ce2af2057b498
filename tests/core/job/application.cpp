// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/error.h"
#include "core/job/job_report.h"
#include "core/job/workload.h"
#include "core/random.h"
#include "tests/support/fake_engine.h"
#include "tests/support/plain_collectives.h"

using namespace sluice;

namespace {

constexpr Tick kLatency = kMicrosecond;

/// A random graph: each rank works through steps of compute, waits for a peer, or signals one.
JobGraph random_job(RankId ranks, std::uint64_t seed) {
    JobGraph graph(ranks);
    const Label label = {graph.intern("random"), OpClass::other, kNone};
    std::vector<OpId> tail(ranks, kNone);
    for (std::uint32_t step = 0; step < 40 * ranks; ++step) {
        const RankId a = uniform_below(seed, 0, step, ranks);
        const RankId b = (a + 1 + uniform_below(seed, 1, step, ranks - 1)) % ranks;
        const std::uint32_t size = 1 + uniform_below(seed, 2, step, 20'000);
        const std::uint32_t what = uniform_below(seed, 3, step, 4);
        if (what == 0) {
            const OpId op = graph.add_compute(a, size * 100, label);
            graph.add_dependency(op, tail[a]);
            tail[a] = op;
        } else if (what == 1) {
            const OpId op = graph.add_delay(a, size % 3 == 0 ? 0 : size, label);
            graph.add_dependency(op, tail[a]);
            tail[a] = op;
        } else {
            const JobGraph::Pair pair = what == 2 ? graph.add_message(a, b, size, label)
                                                  : graph.add_signal(a, b, kLatency + size, label);
            graph.add_dependency(pair.from, tail[a]);
            graph.add_dependency(pair.to, tail[b]);
            tail[b] = pair.to;
        }
    }
    graph.finish();
    return graph;
}

struct Times {
    std::vector<Tick> start;
    std::vector<Tick> end;
    friend bool operator==(const Times& a, const Times& b) {
        return a.start == b.start && a.end == b.end;
    }
};

Times times_of(const JobApplication& application) {
    Times times;
    for (OpId op = 0; op < application.graph().op_count(); ++op) {
        times.start.push_back(application.start(op));
        times.end.push_back(application.end(op));
    }
    return times;
}

}  // namespace

TEST_CASE("unit.job_application.one_message_by_hand") {
    // compute 10 us; 1000 B = 80 ns + 1 us; then 5 us on the receiver.
    JobGraph graph(2);
    const OpId before = graph.add_compute(0, 10 * kMicrosecond, {});
    const JobGraph::Pair message = graph.add_message(0, 1, 1000, {});
    const OpId after = graph.add_compute(1, 5 * kMicrosecond, {});
    graph.add_dependency(message.from, before);
    graph.add_dependency(after, message.to);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    const JobApplication& app = *work.application;
    CHECK(app.start(message.from) == 10 * kMicrosecond);
    CHECK(app.end(message.from) == 12 * kMicrosecond + 80 * kNanosecond);
    CHECK(app.start(message.to) == 0);
    CHECK(app.end(message.to) == 11 * kMicrosecond + 80 * kNanosecond);
    CHECK(app.end(after) == 16 * kMicrosecond + 80 * kNanosecond);
    CHECK(app.last_end() == app.end(after));
    CHECK(app.complete());
}

TEST_CASE("unit.job_application.compute_stream_is_one_at_a_time_in_order") {
    // Three computes of 3, 2 and 1 us without dependencies run 0-3, 3-5, 5-6; the second also
    // waits for a delay until 4, so it runs 4-6 and the third, though ready, 6-7.
    JobGraph graph(1);
    const OpId wait = graph.add_delay(0, 4, {});
    const OpId a = graph.add_compute(0, 3, {});
    const OpId b = graph.add_compute(0, 2, {});
    const OpId c = graph.add_compute(0, 1, {});
    graph.add_dependency(b, wait);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(1));
    fake::Engine(*work.application, work.flows, 1).run();
    CHECK(work.application->end(a) == 3);
    CHECK(work.application->start(b) == 4);
    CHECK(work.application->start(c) == 6);
    CHECK(work.application->end(c) == 7);
}

TEST_CASE("unit.job_application.early_messages_wait_for_their_receiver") {
    // 1 byte arrives at 1 us + 80 ps, but the recv is posted only after 50 us.
    JobGraph graph(2);
    const OpId busy = graph.add_delay(1, 50 * kMicrosecond, {});
    const JobGraph::Pair message = graph.add_message(0, 1, 1, {});
    graph.add_dependency(message.to, busy);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    CHECK(work.application->start(message.to) == 50 * kMicrosecond);
    CHECK(work.application->end(message.to) == 50 * kMicrosecond);
}

TEST_CASE("unit.job_application.signals_cross_ranks_with_their_delay") {
    JobGraph graph(2);
    const OpId before = graph.add_delay(0, 100, {});
    const JobGraph::Pair signal = graph.add_signal(0, 1, 2 * kMicrosecond, {});
    graph.add_dependency(signal.from, before);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(2));
    fake::Engine(*work.application, work.flows, 2).run();
    CHECK(work.application->end(signal.from) == 100);
    CHECK(work.application->end(signal.to) == 2 * kMicrosecond + 100);
}

TEST_CASE("unit.job_application.its_signals_limit_an_engines_lookahead") {
    const auto job = [](Tick signal, Tick meeting) {
        JobGraph graph(3);
        graph.add_signal(0, 0, 0, {});
        if (signal > 0) graph.add_signal(0, 1, signal, {});
        if (meeting > 0) graph.add_meet({1, 2}, meeting, {});
        graph.add_meet({0}, 1, {});
        graph.finish();
        return std::make_unique<JobApplication>(std::move(graph), fake::hosts(3));
    };
    CHECK(job(0, 0)->signal_lookahead() == kNever);
    CHECK(job(900, 0)->signal_lookahead() == 900);
    // Its parts tell the first part's host, which tells them all.
    CHECK(job(0, 1001)->signal_lookahead() == 500);
    CHECK(job(300, 1000)->signal_lookahead() == 300);
}

TEST_CASE("unit.job_application.long_chains_do_not_recurse") {
    JobGraph graph(1);
    OpId last = kNone;
    for (int i = 0; i < 1'000'000; ++i) {
        const OpId op = graph.add_delay(0, 0, {});
        graph.add_dependency(op, last);
        last = op;
    }
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(1));
    fake::Engine(*work.application, work.flows, 1).run();
    CHECK(work.application->complete());
}

TEST_CASE("unit.job_application.same_times_in_every_order_of_hosts_and_threads") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Workload work = make_workload(random_job(6, seed), fake::hosts(6));
        fake::Engine(*work.application, work.flows, 6).run();
        REQUIRE(work.application->complete());
        const Times expected = times_of(*work.application);
        // on_begin resets: the same application runs again.
        fake::Engine(*work.application, work.flows, 6).run_windows(false);
        CHECK(times_of(*work.application) == expected);
        fake::Engine(*work.application, work.flows, 6).run_windows(true);
        CHECK(times_of(*work.application) == expected);
    }
}

TEST_CASE("unit.job_application.ignores_hosts_flows_and_timers_of_others") {
    JobGraph graph(2);
    graph.add_message(0, 1, 10, {});
    graph.finish();
    // Rank 0 is host 4, rank 1 host 2; the job's only flow is number 3.
    JobApplication app(std::move(graph), {4, 2}, 3);
    std::vector<FlowSpec> flows(4);
    flows[3].src = 4;
    flows[3].dst = 2;
    flows[3].size = 10;
    fake::Engine engine(app, flows, 6);
    engine.run();
    CHECK(app.complete());
    CHECK(app.host(1) == 2);

    struct Silent final : HostServices {
        FlowId open_flow(const FlowSpec&, Tick) override { throw InternalError("nothing to open"); }
        void start_flow(FlowId, Tick) override { throw InternalError("nothing to start"); }
        void set_timer(NodeId, Tick, std::uint64_t) override { throw InternalError("no timer"); }
        Tick lookahead() const override { return 1; }
    } silent;
    app.on_begin(0, silent);
    app.on_begin(1000, silent);
    app.on_received(2, 0, 5, silent);
    app.on_received(4, 3, 5, silent);
    app.on_sent(4, 7, 5, silent);
    app.on_timer(2, 1'000'000, 5, silent);
    CHECK(app.complete());
}

TEST_CASE("unit.job_application.refuses_hosts_that_do_not_fit") {
    JobGraph graph(2);
    graph.add_delay(0, 1, {});
    graph.finish();
    CHECK_THROWS_AS(JobApplication(graph, {1}), ConfigError);
    CHECK_THROWS_AS(JobApplication(graph, {1, 1}), ConfigError);
    CHECK_THROWS_AS(JobApplication(JobGraph(1), {1}), InternalError);
}

TEST_CASE("unit.job_report.lists_what_blocks_a_job") {
    // Rank 1 waits for a message that the network lost; its compute waits for the recv.
    JobGraph graph(2);
    const Label label = {graph.intern("gradients"), OpClass::dp, kNone};
    const JobGraph::Pair message = graph.add_message(0, 1, 1234, label);
    const OpId update = graph.add_compute(1, 5, {graph.intern("update"), OpClass::compute, kNone});
    graph.add_dependency(update, message.to);
    const JobGraph::Pair reply = graph.add_message(1, 0, 9, {graph.intern("reply"), OpClass::dp});
    graph.add_dependency(reply.from, update);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(2));
    fake::Engine engine(*work.application, work.flows, 2);
    engine.lost.insert(0);
    engine.run();
    CHECK_FALSE(work.application->complete());
    CHECK(work.application->completed_count() == 0);
    const std::vector<BlockedOperation> blocked = unfinished(*work.application);
    REQUIRE(blocked.size() == 5);
    CHECK(blocked[0].text ==
          "rank 0 send \"gradients\" (operation 0) waits for the last acknowledgement of flow 0 "
          "(1234 bytes, rank 0 to rank 1), which has not been received whole");
    CHECK(blocked[1].text ==
          "rank 1 recv \"gradients\" (operation 1) waits for flow 0 (1234 bytes, rank 0 to rank "
          "1), sent at 0ps");
    CHECK(blocked[2].text ==
          "rank 0 recv \"reply\" (operation 4) waits for flow 1 (9 bytes, rank 1 to rank 0), "
          "which has not been sent");
    CHECK(blocked[3].text ==
          "rank 1 compute \"update\" (operation 2) waits for rank 1 recv \"gradients\" "
          "(operation 1)");
    CHECK(unfinished(*work.application, 4).size() == 4);
    CHECK(unfinished(*work.application, 0).empty());
}

TEST_CASE("unit.job_report.complete_jobs_have_nothing_to_list") {
    JobGraph graph(1);
    graph.add_delay(0, 3, {});
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(1));
    CHECK(unfinished(*work.application).size() == 1);
    fake::Engine(*work.application, work.flows, 1).run();
    CHECK(unfinished(*work.application).empty());
}

TEST_CASE("unit.job_report.spans_of_a_collective") {
    // Rank 1 is ready 7 us after rank 0. Point to point 0 -> 1 of 1000 B starts at 0, arrives at
    // 1.08 us, is taken at 7 us; acknowledged at 2.08 us.
    JobGraph graph(3);
    const OpId late = graph.add_delay(1, 7 * kMicrosecond, {});
    plain::point_to_point(graph, {"activation", "pp0-1", OpClass::pp, 1000}, 0, 1, kNone, late);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(3));
    fake::Engine(*work.application, work.flows, 3).run();
    const std::vector<CollectiveSpan> spans = collective_spans(*work.application);
    REQUIRE(spans.size() == 1);
    CHECK(spans[0].start == 0);
    CHECK(spans[0].end == 7 * kMicrosecond);
    CHECK(spans[0].sent == 1000);
    const std::vector<CollectiveSpan> sender = rank_spans(*work.application, 0);
    REQUIRE(sender.size() == 1);
    CHECK(sender[0].end == 2 * kMicrosecond + 80 * kNanosecond);
    const std::vector<CollectiveSpan> receiver = rank_spans(*work.application, 1);
    REQUIRE(receiver.size() == 1);
    CHECK(receiver[0].start == 7 * kMicrosecond);
    CHECK(receiver[0].sent == 0);
    CHECK(rank_spans(*work.application, 2).empty());
}
