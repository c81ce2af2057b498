// SPDX-License-Identifier: Apache-2.0
/// Schedules as job graphs, executed on the engine without contention of tests/support/fake_engine.h: n
/// bytes take n x 80 ps + 1 us to their receiver, another 1 us for the last ACK.
#include <doctest/doctest.h>

#include <numeric>

#include "core/job/job_application.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/goal_support.h"
#include "workloads/goal/goal_graph.h"

using namespace sluice;
using goal::from_text;

namespace {

struct Run {
    Tick end = 0;
    bool complete = false;
    std::size_t hosts = 0;
    std::size_t messages = 0;
};

Run run(const std::string& text, GoalLayout layout = GoalLayout::automatic) {
    const GoalSchedule schedule = from_text(text);
    GoalGraphOptions options;
    options.layout = layout;
    options.signal_delay = kMicrosecond;
    JobGraph graph = build_goal_graph(schedule, options);
    std::vector<NodeId> hosts(graph.rank_count());
    std::iota(hosts.begin(), hosts.end(), 0U);
    const std::vector<FlowSpec> flows = graph.flows(hosts);
    JobApplication application(std::move(graph), hosts);
    fake::Engine engine(application, flows, hosts.size());
    engine.run();
    return {application.last_end(), application.complete(), hosts.size(), flows.size()};
}

std::string error_of(const std::string& text) {
    return sluice::error_of([&] { run(text); });
}

}  // namespace

TEST_CASE("unit.goal.graph.calcs_occupy_cpus_and_messages_the_network") {
    // 3 us + 2 us on one CPU, or side by side on two.
    CHECK(run("num_ranks 1\nrank 0 {\ncalc 3000\ncalc 2000\n}\n").end == 5 * kMicrosecond);
    CHECK(run("num_ranks 1\nrank 0 {\ncalc 3000\ncalc 2000 cpu 1\n}\n").end == 3 * kMicrosecond);
    // calc 1 us, 1000 bytes in 80 ns + 1 us, calc 2 us behind the recv.
    const Run chain =
        run("num_ranks 2\nrank 0 {\na: calc 1000\nb: send 1000b to 1\nb requires a\n}\n"
            "rank 1 {\na: recv 1000b from 0\nb: calc 2000\nb requires a\n}\n");
    CHECK(chain.complete);
    CHECK(chain.end == 4 * kMicrosecond + 80 * kNanosecond);
    // A send ends with its last ACK.
    CHECK(run("num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 2000\nb requires a\n}\n"
              "rank 1 {\nrecv 1000b from 0\n}\n")
              .end == 4 * kMicrosecond + 80 * kNanosecond);
}

TEST_CASE("unit.goal.graph.irequires_waits_for_the_start") {
    // b may start when a does: 5 us side by side; behind c, which a requires: 1 + 5 us.
    CHECK(run("num_ranks 1\nrank 0 {\na: calc 5000\nb: calc 5000 cpu 1\nb irequires a\n}\n").end ==
          5 * kMicrosecond);
    CHECK(run("num_ranks 1\nrank 0 {\nc: calc 1000\na: calc 5000\nb: calc 5000 cpu 1\n"
              "a requires c\nb irequires a\n}\n")
              .end == 6 * kMicrosecond);
    // A chain of starts: d with b with a, all behind c.
    CHECK(run("num_ranks 1\nrank 0 {\nc: calc 1000\na: calc 5000\nb: calc 5000 cpu 1\n"
              "d: calc 5000 cpu 2\na requires c\nb irequires a\nd irequires b\n}\n")
              .end == 6 * kMicrosecond);
    // A recv starts when it is posted, not when its message comes.
    CHECK(run("num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: calc 100\nb irequires a\n}\n"
              "rank 1 {\na: calc 9000\nb: send 8b to 0\nb requires a\n}\n")
              .end == 11 * kMicrosecond + 640);
}

TEST_CASE("unit.goal.graph.messages_meet_in_order_of_their_key") {
    // Two of one key meet in file order: the calc behind the second recv waits for the second send.
    const auto text = [](const char* waits) {
        return "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 4\nb: calc 7000\nc: send 1000b to 1 "
               "tag 4\n"
               "c requires b\n}\nrank 1 {\na: recv 1000b from 0 tag 4\nb: recv 1000b from 0 tag 4\n"
               "c: calc 9000\nc requires " +
               std::string(waits) + "\n}\n";
    };
    const Tick message = kMicrosecond + 80 * kNanosecond;
    CHECK(run(text("a")).end == message + 9 * kMicrosecond);
    CHECK(run(text("b")).end == 7 * kMicrosecond + message + 9 * kMicrosecond);
    // Any source: rank 2's message comes first, at 1 us and L.
    const Run any =
        run("num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
            "c: calc 3000\nc requires a\n}\n"
            "rank 1 {\na: calc 50000\nb: send 8b to 0\nb requires a\n}\n"
            "rank 2 {\na: calc 1000\nb: send 8b to 0\nb requires a\n}\n");
    CHECK(any.complete);
    CHECK(any.end == 52 * kMicrosecond + 640);
}

TEST_CASE("unit.goal.graph.messages_to_oneself_and_of_no_bytes") {
    const Run self =
        run("num_ranks 1\nrank 0 {\na: calc 1000\nb: send 8b to 0\nb requires a\n"
            "c: recv 8b from 0\nd: calc 1000\nd requires c\n}\n");
    CHECK(self.complete);
    CHECK(self.messages == 0);
    CHECK(self.end == 2 * kMicrosecond);
    const Run empty = run("num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n");
    CHECK(empty.complete);
    CHECK(empty.messages == 1);
}

TEST_CASE("unit.goal.graph.nics_are_hosts_where_the_trace_says_so") {
    // GPU 0 of rank 0 to GPU 1 of rank 1, NICs 0 and 1.
    const std::string text =
        "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 1000b to 1 tag 5\nb requires a\n}\n"
        "rank 1 {\na: recv 1000b from 0 tag 5 cpu 1 nic 1\nb: calc 1000 cpu 1\nb requires a\n}\n";
    const Run nodes = run(text);
    CHECK(nodes.hosts == 4);
    // CPU 1 of rank 1 is with NIC 1: nothing crosses hosts but the message.
    CHECK(nodes.end == 3 * kMicrosecond + 80 * kNanosecond);
    CHECK(run(text, GoalLayout::gpu).hosts == 2);
    CHECK(run(text, GoalLayout::gpu).end == nodes.end);
    // A calc on CPU 0 runs at NIC 0, a signal of 1 us away.
    CHECK(run("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\n"
              "rank 1 {\na: recv 1000b from 0 cpu 1 nic 1\nb: calc 1000\nb requires a\n}\n")
              .end == 3 * kMicrosecond + 80 * kNanosecond);
}

TEST_CASE("unit.goal.graph.what_cannot_end_is_refused") {
    CHECK(error_of("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\n}\n") ==
          "GOAL: rank 0 recv of 8 bytes from rank 1 tag 0 (operation 0 of the rank) waits for a "
          "message that nobody sends; the job cannot end");
    CHECK(error_of("num_ranks 2\nrank 0 {\n}\nrank 1 {\nsend 8b to 0 tag 2\n}\n") ==
          "GOAL: rank 1 send of 8 bytes to rank 0 tag 2 (operation 0 of the rank) has no recv that "
          "takes it; the job cannot end");
    CHECK(
        error_of("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n") !=
        "no error");
    CHECK(error_of(
              "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na irequires b\nb irequires a\n}\n") !=
          "no error");
}

TEST_CASE("unit.goal.graph.differing_sizes_are_told") {
    const GoalSchedule s =
        from_text("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n");
    ImportReport report;
    report_matches(s, match_goal(s, {}), "s.goal", report);
    CHECK(report.count(ImportNote::Kind::doubtful) == 1);
}
