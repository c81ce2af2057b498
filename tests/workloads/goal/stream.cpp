// SPDX-License-Identifier: Apache-2.0
/// Schedules that are read as they run, against the same schedules as graphs: every flow of both in
/// flow mode, to the tick.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/job/stream_application.h"
#include "core/job/workload.h"
#include "core/topology/builders.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/goal_support.h"
#include "tests/support/step_random.h"
#include "tests/support/stream_support.h"
#include "workloads/goal/goal_graph.h"
#include "workloads/goal/goal_stream.h"

using namespace sluice;
using goal::from_text;
using goal::to_binary;
using sluice::test::Dice;
using sluice::test::JobOutcome;
using sluice::test::run_job;

namespace {

/// A file that is gone with its owner.
class TestFile {
  public:
    explicit TestFile(const std::string& bytes) {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-goal-XXXXXX").string();
        const int descriptor = mkstemp(name.data());
        if (descriptor >= 0) ::close(descriptor);
        path = name;
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ~TestFile() { std::filesystem::remove(path); }
    std::string path;
};

/// Operations in an order in which they can run; most wait for earlier ones of their rank, near or far.
class Writer {
  public:
    Writer(Dice& dice, std::uint32_t ranks) : dice_(dice), lines_(ranks), counts_(ranks, 0) {}

    void step() {
        const std::uint32_t a = dice_.below(static_cast<std::uint32_t>(lines_.size()));
        if (dice_.chance(45)) {
            const int times[] = {0, 0, 100, 1000, 1000, 2500};
            add(a, "calc " + std::to_string(dice_.pick(times)) + " cpu " +
                       std::to_string(dice_.below(2)));
            return;
        }
        const std::uint32_t b = dice_.below(static_cast<std::uint32_t>(lines_.size()));
        const int sizes[] = {0, 1, 1000, 1000, 20'000, 100'000};
        const std::string size = std::to_string(dice_.pick(sizes)) + "b ";
        const std::string tag = " tag " + std::to_string(dice_.below(2));
        add(a, "send " + size + "to " + std::to_string(b) + tag);
        add(b, "recv " + size + "from " + std::to_string(a) + tag);
    }
    std::string text() const {
        std::string all = "num_ranks " + std::to_string(lines_.size()) + "\n";
        for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
            all += "rank " + std::to_string(rank) + " {\n" + lines_[rank] + "}\n";
        }
        return all;
    }

  private:
    void add(std::uint32_t rank, const std::string& what) {
        const std::uint32_t op = ++counts_[rank];
        const std::string label = "l" + std::to_string(op);
        lines_[rank] += label + ": " + what + "\n";
        for (std::uint32_t n = dice_.below(4); n > 0 && op > 1; --n) {
            const std::uint32_t far[] = {3, 3, 200};
            const std::uint32_t back = 1 + dice_.below(std::min(op - 1, dice_.pick(far)));
            lines_[rank] += label + (dice_.chance(20) ? " irequires l" : " requires l") +
                            std::to_string(op - back) + "\n";
        }
    }
    Dice& dice_;
    std::vector<std::string> lines_;
    std::vector<std::uint32_t> counts_;
};

Topology fat_tree() {
    FatTreeParams params;
    params.k = 4;
    return build_fat_tree(params);
}

std::vector<NodeId> first_hosts(const Topology& topology, std::size_t count) {
    std::vector<NodeId> hosts = topology.hosts();
    hosts.resize(count);
    return hosts;
}

StreamApplication stream_of(const std::string& path, std::size_t hosts) {
    std::vector<NodeId> ids = fake::hosts(hosts);
    return {open_goal_stream(path), ids};
}

std::string error_of_stream(const std::string& text, std::size_t ranks) {
    return error_of([&] {
        const TestFile file(text);
        StreamApplication job = stream_of(file.path, ranks);
        fake::Engine engine(job, {}, ranks);
        engine.run();
    });
}

}  // namespace

TEST_CASE("unit.goal.stream.flows_are_those_of_the_graph_to_the_tick") {
    const Topology topology = fat_tree();
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        const std::uint32_t ranks = 2 + dice.below(15);
        Writer writer(dice, ranks);
        const int steps[] = {10, 100, 1000};
        for (int i = dice.pick(steps); i > 0; --i) writer.step();
        const std::string text = writer.text();
        const GoalSchedule schedule = from_text(text);
        const std::vector<NodeId> hosts = first_hosts(topology, ranks);

        GoalGraphOptions options;
        options.layout = GoalLayout::gpu;
        Workload workload = make_workload(build_goal_graph(schedule, options), hosts);
        assign_source_ports(workload.flows);
        const JobOutcome graph = run_job(topology, workload.flows, *workload.application);

        for (const bool binary : {true, false}) {
            const TestFile file(binary ? to_binary(schedule) : text);
            StreamApplication job(open_goal_stream(file.path), hosts);
            const JobOutcome stream = run_job(topology, {}, job);
            CHECK(stream.complete);
            CHECK(stream.last_end == graph.last_end);
            CHECK(stream.events == graph.events);
            CHECK(job.completed_count() == schedule.op_count());
            REQUIRE(stream.flows.size() == graph.flows.size());
            for (std::size_t i = 0; i < stream.flows.size(); ++i) {
                const FlowRecord& a = graph.flows[i];
                const FlowRecord& b = stream.flows[i];
                REQUIRE(b.spec.src == a.spec.src);
                REQUIRE(b.spec.dst == a.spec.dst);
                REQUIRE(b.spec.sport == a.spec.sport);
                REQUIRE(b.spec.size == a.spec.size);
                REQUIRE(b.result.start == a.result.start);
                REQUIRE(b.result.received == a.result.received);
                REQUIRE(b.result.finish == a.result.finish);
            }
        }
    }
}

TEST_CASE("unit.goal.stream.a_send_that_nobody_takes_and_a_recv_that_nobody_serves") {
    CHECK(error_of_stream("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\n}\n", 2)
              .find("rank 0 operation 0 has no recv that takes it; the job cannot end") !=
          std::string::npos);
    const TestFile file(
        "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: calc 5\nb requires a\n}\nrank 1 {\ncalc "
        "5\n}\n");
    StreamApplication job = stream_of(file.path, 2);
    fake::Engine engine(job, {}, 2);
    engine.run();
    CHECK(!job.complete());
    CHECK(job.completed_count() == 1);
    CHECK(job.operation_count() == 3);
    REQUIRE(job.unfinished(5).size() == 1);
    CHECK(job.unfinished(5)[0] == "rank 0 waits for messages that nobody sends");
}

TEST_CASE("unit.goal.stream.refuses_what_only_a_whole_schedule_can_tell") {
    CHECK(
        error_of_stream("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from -1\n}\n", 2)
            .find("takes messages from any rank or with any tag") != std::string::npos);
    CHECK(error_of_stream("num_ranks 1\nrank 0 {\nsend 8b to 0 nic 1\nrecv 8b from 0 nic 1\n}\n", 1)
              .find("names NICs other than 0") != std::string::npos);
    CHECK(error_of_stream("num_ranks 1\nrank 0 {\ncalc x\n}\n", 1).find(":3: expected") !=
          std::string::npos);
}

TEST_CASE("unit.goal.stream.a_damaged_binary_is_refused_where_it_is_read") {
    const std::string bytes =
        to_binary(from_text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\n"));
    const auto damaged = [&](std::size_t from_end, char value) {
        std::string wrong = bytes;
        wrong[wrong.size() - from_end] = value;
        return error_of_stream(wrong, 1);
    };
    CHECK(error_of_stream(bytes, 1) == "no error");
    // The only entry of the appendix; the second operation's kind and its dependencies.
    CHECK(damaged(4, 9).find("rank 0: a dependent is operation 9; there are 2") !=
          std::string::npos);
    CHECK(damaged(4 + 39 - 4, 7).find("rank 0: operation 1 has type 7") != std::string::npos);
    CHECK(damaged(4 + 39, 0).find("more often than it has dependencies") != std::string::npos);
}

TEST_CASE("unit.goal.stream.a_long_program_keeps_a_few_blocks") {
    // 30,000 operations of each of two ranks, one after the other: blocks in memory are those around
    // the two that run.
    std::string text = "num_ranks 2\n";
    for (int rank = 0; rank < 2; ++rank) {
        text += "rank " + std::to_string(rank) + " {\n";
        for (int op = 1; op <= 30'000; ++op) {
            const std::string label = "l" + std::to_string(op);
            const std::string peer = std::to_string(1 - rank);
            const bool sends = op % 2 == rank;
            text += label + (sends ? ": send 64b to " : ": recv 64b from ") + peer + "\n";
            if (op > 1) text += label + " requires l" + std::to_string(op - 1) + "\n";
        }
        text += "}\n";
    }
    const TestFile file(to_binary(from_text(text)));
    StreamApplication job = stream_of(file.path, 2);
    fake::Engine engine(job, {}, 2);
    engine.run();
    CHECK(job.complete());
    CHECK(job.message_count() == 30'000);
    CHECK(job.message_bytes() == 30'000 * 64);
    CHECK(job.most_blocks() <= 6);
}
