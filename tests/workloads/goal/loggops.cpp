// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "tests/support/goal_support.h"
#include "workloads/goal/loggops.h"

using namespace sluice;
using goal::from_text;
using goal::sample;

namespace {

using Times = std::vector<std::int64_t>;

Times times(const std::string& text, const LogGopsParameters& parameters = {}) {
    return simulate_loggops(from_text(text), parameters).host_ns;
}

/// A ring of four ranks, as of samples/goal/mini4.goal.
std::string ring() {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR) + "/tests/data/ring4.goal");
    std::ostringstream text;
    text << file.rdbuf();
    REQUIRE(!text.str().empty());
    return text.str();
}

}  // namespace

TEST_CASE("unit.goal.loggops.reproduces_loggopsim_on_the_ring") {
    // Figures of ATLAHS's LogGOPSim for this schedule.
    LogGopsParameters p;
    CHECK(times(ring(), p) == Times{6319432, 3160716, 4740074, 6319432});
    p.largest_eager = 100'000'000;
    CHECK(times(ring(), p) == Times{6319432, 1582858, 3162216, 4741574});
    p.latency = 1000;
    p.overhead = 0;
    p.gap = 0;
    p.gap_per_byte = 0.02;
    CHECK(times(ring(), p) == Times{26968, 8242, 14484, 20726});
}

TEST_CASE("unit.goal.loggops.reproduces_loggopsim_on_the_samples") {
    const std::string mini = sample("goal/mini4.bin");
    const std::string tree = sample("goal/binary_tree_32.bin");
    if (mini.empty() || tree.empty()) return;
    CHECK(simulate_loggops(goal::from_binary(mini), {}).host_ns ==
          Times{6319432, 3160716, 4740074, 6319432});
    const Times ends = simulate_loggops(goal::from_binary(tree), {}).host_ns;
    const auto latest = std::max_element(ends.begin(), ends.end());
    CHECK(*latest == 41500);
    CHECK(latest - ends.begin() == 31);
}

TEST_CASE("unit.goal.loggops.one_eager_message_takes_the_closed_form") {
    // o = g = 0, eager: L + (bytes - 1) G.
    LogGopsParameters p;
    p.latency = 700;
    p.overhead = 0;
    p.gap = 0;
    p.gap_per_byte = 0.5;
    const char* const text =
        "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n";
    CHECK(times(text, p) == Times{0, 1200});
    // With overheads: o + c at the sender; + L + b + g + o + c at the receiver, c = 1000 x 2.
    p.overhead = 10;
    p.gap = 30;
    p.overhead_per_byte = 2;
    CHECK(times(text, p) == Times{2010, 2010 + 700 + 500 + 30 + 2010});
    // Ranks of one node have parameters of their own.
    p.ranks_per_node = 2;
    p.intra_latency = 100;
    p.intra_gap_per_byte = 0.1;
    CHECK(times(text, p) == Times{2010, 2010 + 100 + 100 + 30 + 2010});
}

TEST_CASE("unit.goal.loggops.rendezvous_holds_the_sender_until_the_recv") {
    LogGopsParameters p;
    p.latency = 100;
    p.overhead = 10;
    p.gap = 0;
    p.gap_per_byte = 1;
    p.largest_eager = 10;
    // The recv is posted after 5000; the message of 11 bytes arrived at 10 + 100 + 10. The recv
    // ends at 5010, and the sender's calc may begin then.
    CHECK(times("num_ranks 2\nrank 0 {\na: send 11b to 1\nb: calc 7\nb requires a\n}\n"
                "rank 1 {\na: calc 5000\nb: recv 11b from 0\nb requires a\n}\n",
                p) == Times{5017, 5010});
    // 10 bytes are eager: the sender goes on after o.
    CHECK(times("num_ranks 2\nrank 0 {\na: send 10b to 1\nb: calc 7\nb requires a\n}\n"
                "rank 1 {\na: calc 5000\nb: recv 10b from 0\nb requires a\n}\n",
                p) == Times{17, 5010});
}

TEST_CASE("unit.goal.loggops.cpus_and_nics_are_occupied") {
    LogGopsParameters p;
    p.latency = 100;
    p.overhead = 10;
    p.gap = 40;
    p.gap_per_byte = 0;
    // Two calcs on one CPU follow each other, on two they overlap.
    CHECK(times("num_ranks 1\nrank 0 {\ncalc 30\ncalc 50\n}\n", p) == Times{80});
    CHECK(times("num_ranks 1\nrank 0 {\ncalc 30\ncalc 50 cpu 1\n}\n", p) == Times{50});
    // Sends leave one NIC a gap apart, two at the CPU's pace: the last of three at 80, or 20.
    const std::string recvs = "rank 1 {\nrecv 1b from 0\nrecv 1b from 0\nrecv 1b from 0\n}\n";
    CHECK(times("num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1\nsend 1b to 1\n}\n" + recvs,
                p)[0] == 90);
    CHECK(times("num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1 nic 1\nsend 1b to 1 nic 2\n}\n" +
                    recvs,
                p)[0] == 30);
}

TEST_CASE("unit.goal.loggops.tags_and_wildcards_match") {
    LogGopsParameters p;
    p.latency = 100;
    p.overhead = 0;
    p.gap = 0;
    p.gap_per_byte = 0;
    // Rank 1's message is sent at 5, rank 2's at 9. The recv with any source takes the first of its
    // tag; the calcs after the recvs tell which arrived when.
    const auto text = [](const std::string& first, const std::string& second) {
        return "num_ranks 3\nrank 0 {\na: recv 8b " + first + "\nb: recv 8b " + second +
               "\nc: calc 1000 cpu 1\nc requires a\nd: calc 1000 cpu 2\nd requires b\n}\n"
               "rank 1 {\na: calc 5\nb: send 8b to 0 tag 3\nb requires a\n}\n"
               "rank 2 {\na: calc 9\nb: send 8b to 0 tag 4\nb requires a\n}\n";
    };
    const auto partner_of_first = [&](const std::string& schedule) {
        return simulate_loggops(from_text(schedule), p, true).partner[0];
    };
    // Operations 0 to 3 are rank 0's, 5 is rank 1's send and 7 rank 2's.
    CHECK(partner_of_first(text("from -1 tag -1", "from -1 tag -1")) == 5);
    CHECK(partner_of_first(text("from -1 tag 4", "from 1 tag -1")) == 7);
    CHECK(partner_of_first(text("from 2 tag -1", "from -1 tag 3")) == 7);
    CHECK(times(text("from -1 tag 4", "from -1 tag -1"), p)[0] == 1109);
    // A wildcard that looks among messages that wait takes the earliest.
    CHECK(partner_of_first(
              "num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
              "c: calc 500\nd: calc 0\na requires c\nb requires a\n}\n"
              "rank 1 {\na: calc 9\nb: send 8b to 0 tag 3\nb requires a\n}\n"
              "rank 2 {\na: calc 5\nb: send 8b to 0 tag 4\nb requires a\n}\n") == 7);
}

TEST_CASE("unit.goal.loggops.messages_to_oneself_and_of_no_bytes_arrive") {
    LogGopsParameters p;
    p.latency = 100;
    p.overhead = 10;
    p.gap = 0;
    CHECK(times("num_ranks 1\nrank 0 {\nsend 8b to 0 tag 1\nrecv 8b from 0 tag 1\n}\n", p) ==
          Times{10 + 100 + 42 + 10});
    CHECK(times("num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n", p) ==
          Times{10, 120});
}

TEST_CASE("unit.goal.loggops.crowds_at_one_cpu_and_nic_are_served") {
    // More than the 1024 that are tried again at a time: all run, one after the other.
    LogGopsParameters p;
    p.latency = 100;
    p.overhead = 10;
    p.gap = 5;
    p.gap_per_byte = 0;
    std::string calcs = "num_ranks 1\nrank 0 {\n";
    std::string sends = "num_ranks 2\nrank 0 {\n";
    std::string recvs = "}\nrank 1 {\n";
    for (int i = 0; i < 2500; ++i) {
        calcs += "calc " + std::to_string(i) + "\n";
        sends += "send 1b to 1 tag " + std::to_string(i) + "\n";
        recvs += "recv 1b from 0 tag " + std::to_string(i) + "\n";
    }
    CHECK(times(calcs + "}\n", p) == Times{2500 * 2499 / 2});
    // Sends at the CPU's pace of 10 ns; the receiver takes g + o = 15 ns for each, from 110 ns on.
    CHECK(times(sends + recvs + "}\n", p) == Times{25000, 110 + 2500 * 15});
}

namespace {

/// A rank's steps, as Schedgen writes them: in each, `bytes` go to one rank and come from another; a
/// step's send waits for the recv of the step before, and all recvs are posted at once.
struct Step {
    std::int64_t bytes;
    int to;
    int from;
};
std::string steps_of_rank(int rank, const std::vector<Step>& steps) {
    std::string text = "rank " + std::to_string(rank) + " {\n";
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::string size = std::to_string(steps[i].bytes) + "b ";
        const std::string n = std::to_string(i);
        text += "s" + n + ": send " + size + "to " + std::to_string(steps[i].to) + " tag 0\n";
        if (i > 0) text += "s" + n + " requires r" + std::to_string(i - 1) + "\n";
        text += "r" + n + ": recv " + size + "from " + std::to_string(steps[i].from) + " tag 0\n";
    }
    return text + "}\n";
}
std::string ring_all_reduce(int ranks, std::int64_t bytes) {
    std::string text = "num_ranks " + std::to_string(ranks) + "\n";
    for (int rank = 0; rank < ranks; ++rank) {
        const Step step{bytes / ranks, (rank + 1) % ranks, (rank + ranks - 1) % ranks};
        text += steps_of_rank(rank, std::vector<Step>(2 * (ranks - 1), step));
    }
    return text;
}
std::string recursive_doubling(int ranks, std::int64_t bytes) {
    std::string text = "num_ranks " + std::to_string(ranks) + "\n";
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<Step> steps;
        std::int64_t size = bytes;
        for (int mask = 1; mask < ranks; mask *= 2) {
            steps.push_back({size /= 2, rank ^ mask, rank ^ mask});
        }
        for (std::size_t i = steps.size(); i-- > 0;) steps.push_back(steps[i]);
        text += steps_of_rank(rank, steps);
    }
    return text;
}
/// o + L + b + g + o of an eager message, with the default parameters.
std::int64_t eager_step(std::int64_t bytes) { return 1500 + 2500 + 6 * (bytes - 1) + 1000 + 1500; }

}  // namespace

TEST_CASE("unit.goal.loggops.recvs_of_one_source_and_tag_are_taken_in_program_order") {
    // Messages find their CPU busy, and wait; a step's send waits for the recv of the step before.
    for (const int ranks : {2, 3, 4, 5, 8, 16, 32}) {
        const Times ends = times(ring_all_reduce(ranks, 1024 * ranks));
        CHECK(ends == Times(static_cast<std::size_t>(ranks), 2 * (ranks - 1) * eager_step(1024)));
        // Rendezvous: every operation ends, too.
        const LogGopsResult big =
            simulate_loggops(from_text(ring_all_reduce(ranks, 100'000 * ranks)), {});
        CHECK(big.blocked_count == 0);
    }
    for (const int ranks : {2, 4, 16, 64}) {
        std::int64_t end = 0;
        for (std::int64_t part = 2; part <= ranks; part *= 2) end += 2 * eager_step(65536 / part);
        CHECK(times(recursive_doubling(ranks, 65536)) ==
              Times(static_cast<std::size_t>(ranks), end));
        CHECK(simulate_loggops(from_text(recursive_doubling(ranks, 1 << 24)), {}).blocked_count ==
              0);
    }
}

TEST_CASE("unit.goal.loggops.a_message_that_waits_keeps_its_recv") {
    // Both messages arrive while rank 1's CPU is busy. The first to arrive takes the recv of any
    // tag; were it taken by the second, the first would have none.
    const LogGopsResult result = simulate_loggops(
        from_text("num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\nb: send 8b to 1 tag 2\n"
                  "b requires a\n}\nrank 1 {\ncalc 100000\nrecv 8b from 0 tag -1\n"
                  "recv 8b from 0 tag 2\n}\n"),
        {}, true);
    CHECK(result.blocked_count == 0);
    CHECK(result.partner[3] == 0);
    CHECK(result.partner[4] == 1);
}

TEST_CASE("unit.goal.loggops.what_cannot_end_is_told") {
    const LogGopsResult result = simulate_loggops(
        from_text("num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 5\nb: calc 9\nb requires a\n}\n"
                  "rank 1 {\nsend 8b to 0 tag 6\n}\n"),
        {});
    CHECK(result.completed == 1);
    REQUIRE(result.blocked_count == 3);
    CHECK(result.blocked[0] ==
          "rank 0 recv of 8 bytes from rank 1 tag 5 (operation 0 of the rank) waits for a message "
          "that nobody sent");
    CHECK(result.blocked[1] ==
          "rank 1 send of 8 bytes to rank 0 tag 6 (operation 0 of the rank) has no recv that takes "
          "it");
    CHECK(result.blocked[2] ==
          "rank 0 calc of 9 ns (operation 1 of the rank) waits for 1 of its dependencies");
    // Operations that wait for each other never start.
    CHECK(simulate_loggops(from_text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\n"
                                     "b requires a\n}\n"),
                           {})
              .blocked_count == 2);
}

TEST_CASE("unit.goal.loggops.refuses_absurd_parameters") {
    const GoalSchedule schedule = from_text("num_ranks 1\nrank 0 {\ncalc 1\n}\n");
    LogGopsParameters p;
    p.latency = -1;
    CHECK_THROWS_AS(simulate_loggops(schedule, p), ConfigError);
    p = {};
    p.gap_per_byte = -0.5;
    CHECK_THROWS_AS(simulate_loggops(schedule, p), ConfigError);
    p = {};
    p.overhead_per_byte = 100'000;
    CHECK_THROWS_AS(simulate_loggops(schedule, p), ConfigError);
}
