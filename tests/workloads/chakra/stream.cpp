// SPDX-License-Identifier: Apache-2.0
/// Traces that are read as they run, against the same traces as graphs: every flow of both in flow
/// mode, to the tick.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "core/job/stream_application.h"
#include "core/job/workload.h"
#include "core/topology/builders.h"
#include "tests/support/chakra_support.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/step_random.h"
#include "tests/support/stream_support.h"
#include "workloads/chakra/chakra_stream.h"

namespace sluice::chakra {
namespace {

using sluice::test::Dice;
using sluice::test::JobOutcome;
using sluice::test::run_job;
using test::collective;
using test::message;
using test::node;
using test::TestFolder;

using Ranks = std::vector<std::vector<Node>>;

/// Nodes in an order in which they can run; most wait for earlier ones of their rank, near or far.
Ranks random_traces(Dice& dice, std::uint32_t ranks, int steps, bool one_tag) {
    Ranks traces(ranks);
    const auto deps = [&](std::uint32_t rank) {
        std::vector<std::uint64_t> on;
        const auto id = static_cast<std::uint32_t>(traces[rank].size());
        for (std::uint32_t n = dice.below(4); n > 0 && id > 0; --n) {
            const std::uint32_t far[] = {3, 3, 300};
            on.push_back(id - 1 - dice.below(std::min(id, dice.pick(far))));
        }
        return on;
    };
    for (int i = 0; i < steps; ++i) {
        const std::uint32_t a = dice.below(ranks);
        const auto id = static_cast<std::uint64_t>(traces[a].size());
        if (dice.chance(50)) {
            Node one = node(id, dice.chance(10) ? NodeType::metadata : NodeType::comp, deps(a));
            one.duration_us = dice.below(4);
            one.attributes = {Attribute::boolean("is_cpu_op", dice.chance(30))};
            traces[a].push_back(one);
            continue;
        }
        const std::uint32_t b = (a + 1 + dice.below(ranks - 1)) % ranks;
        const std::int64_t bytes = dice.size(5.0);
        const int tag = one_tag ? 0 : static_cast<int>(dice.below(3));
        traces[a].push_back(message(id, true, static_cast<int>(b), bytes, deps(a), tag));
        traces[b].push_back(
            message(traces[b].size(), false, static_cast<int>(a), bytes, deps(b), tag));
    }
    // A rank without nodes has nothing that could go wrong.
    return traces;
}

std::vector<std::string> write(const TestFolder& folder, const Ranks& ranks) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        test::write_trace(folder.file("t." + std::to_string(rank) + ".et"), ranks[rank]);
    }
    return find_traces(folder.file("t"));
}

/// Ids differ between the two, and with them the order of flows that end together.
void sort_by_ends(std::vector<FlowRecord>& flows) {
    std::sort(flows.begin(), flows.end(), [](const FlowRecord& a, const FlowRecord& b) {
        return std::tie(a.result.finish, a.spec.src, a.spec.dst, a.result.start) <
               std::tie(b.result.finish, b.spec.src, b.spec.dst, b.result.start);
    });
}

void compare(std::uint64_t seed, const Topology& topology, bool one_tag) {
    Dice dice(seed);
    const std::uint32_t ranks = 2 + dice.below(12);
    const int steps[] = {20, 200, 1500};
    const TestFolder folder;
    const std::vector<std::string> files =
        write(folder, random_traces(dice, ranks, dice.pick(steps), one_tag));
    std::vector<NodeId> hosts = topology.hosts();
    hosts.resize(ranks);
    const AstraSystem system = test::regression_system();

    ImportReport report;
    JobOptions options;
    options.expansion.dims = {ranks};
    const std::vector<Trace> traces = read_traces(files, 1, report);
    auto whole = build_job(traces, system, options, report);
    REQUIRE(whole != nullptr);
    Workload workload = make_workload(std::move(whole->graph), hosts);
    assign_source_ports(workload.flows);
    JobOutcome graph = run_job(topology, workload.flows, *workload.application);
    sort_by_ends(graph.flows);

    StreamApplication job(open_chakra_stream(files, system, {}), hosts);
    JobOutcome stream = run_job(topology, {}, job);
    sort_by_ends(stream.flows);
    CAPTURE(seed);
    CHECK(stream.complete);
    CHECK(job.late_operations() == 0);
    CHECK(stream.last_end == graph.last_end);
    REQUIRE(stream.flows.size() == graph.flows.size());
    for (std::size_t i = 0; i < stream.flows.size(); ++i) {
        REQUIRE(stream.flows[i].spec.src == graph.flows[i].spec.src);
        REQUIRE(stream.flows[i].spec.size == graph.flows[i].spec.size);
        REQUIRE(stream.flows[i].result.start == graph.flows[i].result.start);
        REQUIRE(stream.flows[i].result.received == graph.flows[i].result.received);
        REQUIRE(stream.flows[i].result.finish == graph.flows[i].result.finish);
        if (one_tag) REQUIRE(stream.flows[i].spec.sport == graph.flows[i].spec.sport);
    }
}

/// Runs streamed traces on the engine without contention.
std::string error_of_stream(const Ranks& ranks, std::uint32_t window = 0) {
    return error_of([&] {
        const TestFolder folder;
        StreamOptions options;
        options.window = window;
        StreamApplication job(
            open_chakra_stream(write(folder, ranks), test::regression_system(), {}),
            fake::hosts(ranks.size()), options);
        fake::Engine engine(job, {}, ranks.size());
        engine.run();
        if (!job.complete()) throw ConfigError(job.unfinished(1).at(0));
    });
}

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

TEST_CASE("unit.chakra.stream.flows_are_those_of_the_graph_to_the_tick") {
    StarParams star;
    star.hosts = 16;
    FatTreeParams tree;
    tree.k = 4;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        compare(seed, build_star(star), false);
        compare(seed, build_fat_tree(tree), true);
    }
}

TEST_CASE("unit.chakra.stream.a_small_window_changes_nothing_in_a_chain_and_counts_what_is_late") {
    // 500 computations of 1 us, each after the one before.
    Ranks chain(1);
    for (std::uint64_t id = 0; id < 500; ++id) {
        Node one =
            node(id, NodeType::comp,
                 id == 0 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{id - 1});
        one.duration_us = 1;
        chain[0].push_back(one);
    }
    const auto late = [](const Ranks& ranks, std::uint32_t window, Tick end) {
        const TestFolder folder;
        StreamOptions options;
        options.window = window;
        StreamApplication job(
            open_chakra_stream(write(folder, ranks), test::regression_system(), {}), {0}, options);
        fake::Engine engine(job, {}, 1);
        engine.run();
        CHECK(job.complete());
        CHECK(job.last_end() == end);
        return job.late_operations();
    };
    CHECK(late(chain, 64, 500 * kMicrosecond) == 0);
    // The last one waits for nothing and runs on the CPU: it could have started at once.
    chain[0].back().data_deps.clear();
    chain[0].back().attributes = {Attribute::boolean("is_cpu_op", true)};
    CHECK(late(chain, 0, 499 * kMicrosecond) == 0);
    CHECK(late(chain, 64, 499 * kMicrosecond) == 1);
}

TEST_CASE("unit.chakra.stream.refuses_what_only_whole_traces_can_tell") {
    CHECK(ends_with(error_of_stream({{collective(0, CollectiveType::all_reduce, 100)},
                                     {collective(0, CollectiveType::all_reduce, 100)}}),
                    "t.0.et:node 0: ALL_REDUCE is a collective that is simulated: run it without "
                    "`stream`"));
    CHECK(ends_with(error_of_stream({{node(0, NodeType::comp), node(2, NodeType::comp)}}),
                    "t.0.et:node 2: follows node 0: a streamed trace has consecutive ids; run it "
                    "without `stream`"));
    CHECK(ends_with(error_of_stream({{node(0, NodeType::comp, {1}), node(1, NodeType::comp)}}),
                    "t.0.et:node 0: waits for node 1, which is not before it in the file; run it "
                    "without `stream`"));
    CHECK(ends_with(error_of_stream({{node(0, NodeType::mem_load)}}),
                    "t.0.et:node 0: accesses remote memory: run it without `stream`"));
    CHECK(ends_with(error_of_stream({{message(0, true, 1, 100)}, {message(0, false, 0, 200)}}),
                    "t.1.et:node 0 receives 200"));
    CHECK(ends_with(error_of_stream({{message(0, true, 0, 100)}}),
                    "t.0.et:node 0: is not between its rank and another one: there are ranks 0 to "
                    "0"));
    CHECK(ends_with(error_of_stream({{}, {message(0, false, 0, 100)}}),
                    "t.1.et:node 0 waits for its message from rank 0"));
}

}  // namespace sluice::chakra
