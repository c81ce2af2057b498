// SPDX-License-Identifier: Apache-2.0
/// Traces run on the analytical networks, against ASTRA-sim's figures and sums derived by hand.
/// Network: Ring of 50 x 2^30 B/s and 500 ns per hop unless said; local memory 50e9 B/s; 10 ns per
/// endpoint.
#include <doctest/doctest.h>

#include "tests/support/chakra_support.h"
#include "workloads/chakra/et_export.h"

namespace sluice::chakra {
namespace {

using test::collective;
using test::compute;
using test::message;
using test::options_for;
using test::Outcome;
using test::regression_system;
using test::ring_network;
using test::run;

constexpr std::int64_t kMebibyte = 1 << 20;

std::vector<std::vector<Node>> same_on_all(std::size_t ranks, const std::vector<Node>& nodes) {
    return std::vector<std::vector<Node>>(ranks, nodes);
}

void check_all(const Outcome& outcome, std::size_t ranks, Tick finish) {
    CHECK(outcome.first_misfit == "");
    CHECK(outcome.complete);
    CHECK(outcome.finish == std::vector<Tick>(ranks, finish));
}

Tick ns(std::int64_t count) { return count * kNanosecond; }

/// A message of the analytical ring between neighbours: whole nanoseconds.
Tick hop(std::int64_t bytes) {
    return ns(500 +
              static_cast<std::int64_t>(static_cast<double>(bytes) / (50 * 1073741824.0 / 1e9)));
}

Tick reduction(std::int64_t bytes) {
    return 3 * ns(static_cast<std::int64_t>(static_cast<double>(bytes) / 50));
}

}  // namespace

TEST_CASE("unit.chakra.graph.all_reduce_of_1_mib_on_a_ring_of_8_takes_astra_sims_117780_ns") {
    // 4 chunks one after the other, each 10 + 14 x (1110 + 10) + 7 x 3 x 655 = 29,445 ns: a message
    // is 32,768 B, 610.35 ns on the wire and 655.36 ns per memory access.
    const auto nodes = {collective(0, CollectiveType::all_reduce, kMebibyte)};
    for (const bool aware : {true, false}) {
        auto network = ring_network(8);
        network.congestion_aware = aware;
        const Outcome outcome = run(same_on_all(8, nodes), regression_system(), network);
        check_all(outcome, 8, ns(117'780));
        CHECK(outcome.ranks[3].comm == ns(117'780));
        CHECK(outcome.ranks[3].exposed == ns(117'780));
    }
}

TEST_CASE("unit.chakra.graph.ring_reduce_scatter_all_gather_and_all_to_all_of_1_mib_over_4_ranks") {
    // A chunk is 256 KiB. Reduce-scatter: 3 messages of a quarter, each reduced. All-gather: 3 of
    // the whole chunk. All-to-all: 4 x 3 / 2 = 6 of a quarter.
    const auto time = [](CollectiveType type) {
        return run(same_on_all(4, {collective(0, type, kMebibyte)}), regression_system(),
                   ring_network(4));
    };
    const Tick step = hop(65536) + ns(10);
    check_all(time(CollectiveType::reduce_scatter), 4,
              4 * (ns(10) + 3 * (step + reduction(65536))));
    check_all(time(CollectiveType::all_gather), 4, 4 * (ns(10) + 3 * (hop(262144) + ns(10))));
    check_all(time(CollectiveType::all_to_all), 4, 4 * (ns(10) + 6 * step));
}

TEST_CASE("unit.chakra.graph.two_active_chunks_overlap") {
    // On a network without congestion two chunks at a time halve the time.
    AstraSystem system = regression_system();
    system.active_chunks = 2;
    auto network = ring_network(8);
    network.congestion_aware = false;
    check_all(run(same_on_all(8, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              8, ns(117'780 / 2));
    // With two queues per dimension an all-reduce uses half of them: one, with half the places.
    JobOptions options = options_for(network);
    options.expansion.queues_per_dim = 2;
    check_all(run(same_on_all(8, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network, options),
              8, ns(117'780));
}

TEST_CASE("unit.chakra.graph.direct_all_reduce_all_messages_of_a_half_at_once") {
    // Fully connected, one chunk of 1 MiB over 4: 10 + message of 262,144 B + 10 + reduction, then
    // the same without reduction.
    AstraSystem system = regression_system();
    system.dataset_splits = 1;
    system.algorithms[0] = {{Algorithm::direct, false, 0}};
    const flowlevel::AnalyticalConfig network{
        {{flowlevel::DimensionKind::fully_connected, 4, 50, 500}}, true};
    check_all(run(same_on_all(4, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              4, ns(10) + 2 * (hop(262144) + ns(10)) + reduction(262144));
    // Windows of one message: 6 messages one after the other. Of the received ones the 1st, 5th
    // are reduced: own and received packets alternate, and of the received every second batch is.
    system.algorithms[0] = {{Algorithm::direct, false, 1}};
    check_all(run(same_on_all(4, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              4, ns(10) + 6 * (hop(262144) + ns(10)) + 2 * reduction(262144));
}

TEST_CASE("unit.chakra.graph.halving_doubling_all_reduce_over_8") {
    // One chunk of 1 MiB. Messages of 1/2, 1/4, 1/8, 1/8, 1/4, 1/2; the first two received are
    // reduced, accounted with the size of the message that follows.
    AstraSystem system = regression_system();
    system.dataset_splits = 1;
    system.algorithms[0] = {{Algorithm::halving_doubling, false, 0}};
    const flowlevel::AnalyticalConfig network{
        {{flowlevel::DimensionKind::fully_connected, 8, 50, 500}}, true};
    Tick expected = ns(10) + reduction(kMebibyte / 4) + reduction(kMebibyte / 8);
    for (const int part : {2, 4, 8, 8, 4, 2}) expected += hop(kMebibyte / part) + ns(10);
    check_all(run(same_on_all(8, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              8, expected);
}

TEST_CASE("unit.chakra.graph.double_binary_tree_all_reduce_over_4") {
    // One chunk: the first tree has rank 3 above, then 1 over 0 and 2. Up: 10, message, reduction at
    // 1, message, reduction at 3; down: message, reduction at 1, message, 10 at 0 and 2. Each
    // received message costs 10 and, at inner ranks, a reduction of the whole chunk.
    AstraSystem system = regression_system();
    system.dataset_splits = 1;
    system.algorithms[0] = {{Algorithm::double_binary_tree, false, 0}};
    const flowlevel::AnalyticalConfig network{
        {{flowlevel::DimensionKind::fully_connected, 4, 50, 500}}, true};
    const Outcome outcome = run(
        same_on_all(4, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system, network);
    const Tick inner = ns(10) + reduction(kMebibyte);
    const Tick root = ns(10) + 2 * (hop(kMebibyte) + inner);
    const Tick middle = root + hop(kMebibyte) + inner;
    const Tick leaf = middle + hop(kMebibyte) + ns(10);
    CHECK(outcome.first_misfit == "");
    CHECK(outcome.finish == std::vector<Tick>{leaf, middle, leaf, root});
}

TEST_CASE("unit.chakra.graph.two_dimensions_reduce_scatter_all_reduce_all_gather") {
    // 4 x 2 ranks, one chunk of 1 MiB, both rings. Reduce-scatter over 4: 3 messages of 1/4; then an
    // all-reduce of 1/4 over 2: 2 messages of 1/8; then an all-gather of 1/4 over 4: 3 messages.
    AstraSystem system = regression_system(2);
    system.dataset_splits = 1;
    const flowlevel::AnalyticalConfig network{{{flowlevel::DimensionKind::ring, 4, 50, 500},
                                               {flowlevel::DimensionKind::ring, 2, 50, 500}},
                                              true};
    const Tick quarter = hop(kMebibyte / 4) + ns(10);
    const Tick eighth = hop(kMebibyte / 8) + ns(10);
    check_all(run(same_on_all(8, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              8,
              3 * ns(10) + 6 * quarter + 3 * reduction(kMebibyte / 4) + 2 * eighth +
                  reduction(kMebibyte / 8));
    // In the first dimension only.
    Node inner = collective(0, CollectiveType::all_reduce, kMebibyte);
    inner.attributes.push_back(Attribute::booleans("involved_dim", {true, false}));
    check_all(run(same_on_all(8, {inner}), system, network), 8,
              ns(10) + 6 * quarter + 3 * reduction(kMebibyte / 4));
    // Baseline: an all-reduce of everything in each dimension.
    system.local_bandwidth_aware = false;
    check_all(run(same_on_all(8, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  network),
              8,
              2 * ns(10) + 6 * quarter + 3 * reduction(kMebibyte / 4) +
                  2 * (hop(kMebibyte / 2) + ns(10)) + reduction(kMebibyte / 2));
}

TEST_CASE("unit.chakra.graph.groups_by_metadata_by_comm_group_file_by_int32_pg_name") {
    // Ranks 0, 1 and 2, 3 reduce among themselves: a ring of 2 whose endpoint takes 10 ns.
    AstraSystem system = regression_system();
    system.dataset_splits = 1;
    system.endpoint_delay = 1000;
    const Tick expected = ns(10) + 2 * (hop(kMebibyte / 2) + ns(10)) + reduction(kMebibyte / 2);
    std::vector<std::vector<Node>> ranks(4);
    JobOptions options = options_for(ring_network(4));
    SUBCASE("METADATA") {
        for (int rank = 0; rank < 4; ++rank) {
            Node groups = test::node(0, NodeType::metadata);
            groups.inputs = IoInfo{
                R"(['[{"pg_name": "1", "ranks": [0, 1]}, {"pg_name": "2", "ranks": [2, 3]}]'])", "",
                ""};
            Node reduce = collective(5, CollectiveType::all_reduce, kMebibyte, {0});
            reduce.attributes.push_back(Attribute::text("pg_name", rank < 2 ? "1" : "2"));
            ranks[static_cast<std::size_t>(rank)] = {groups, reduce};
        }
    }
    SUBCASE("comm_group file") {
        for (int rank = 0; rank < 4; ++rank) {
            Node reduce = collective(5, CollectiveType::all_reduce, kMebibyte);
            reduce.attributes.push_back(Attribute::int32("pg_name", rank < 2 ? 1 : 2));
            ranks[static_cast<std::size_t>(rank)] = {reduce};
        }
        options.groups = {{"1", {0, 1}}, {"2", {2, 3}}};
    }
    check_all(run(ranks, system, ring_network(4), options), 4, expected);
}

TEST_CASE("unit.chakra.graph.a_ranks_cpu_gpu_and_network_work_side_by_side") {
    // GPU: nodes 1 and 3 one after the other (2 ms); CPU: node 2 (5 us) at the same time.
    Node cpu = compute(2, 5);
    cpu.attributes = {Attribute::boolean("is_cpu_op", true)};
    const Outcome outcome =
        run({{compute(3, 1000), cpu, compute(1, 1000)}, {}}, regression_system(), ring_network(2));
    CHECK(outcome.first_misfit == "");
    CHECK(outcome.finish == std::vector<Tick>{2000 * kMicrosecond, 0});
    CHECK(outcome.ranks[0].cpu == 5 * kMicrosecond);
    CHECK(outcome.ranks[0].gpu == 2000 * kMicrosecond);
    CHECK(outcome.ranks[0].exposed == 0);
}

TEST_CASE("unit.chakra.graph.send_and_recv_with_and_without_rendezvous") {
    // 64 KiB after 1 us of computation; the receiver computes 4 us more once it is there.
    const std::vector<std::vector<Node>> ranks = {
        {compute(0, 1), message(1, true, 1, 65536, {0})},
        {message(0, false, 0, 65536), compute(1, 4, {0})}};
    const Outcome eager = run(ranks, regression_system(), ring_network(2));
    CHECK(eager.first_misfit == "");
    CHECK(eager.finish ==
          std::vector<Tick>{kMicrosecond + hop(65536), 5 * kMicrosecond + hop(65536)});
    // The receiver's 8 KiB are there before the sender is ready.
    JobOptions options = options_for(ring_network(2));
    options.expansion.rendezvous = true;
    CHECK(run(ranks, regression_system(), ring_network(2), options).finish == eager.finish);
    // Now they are not: the receiver asks at 9 us, the message leaves a message of 8 KiB later.
    const std::vector<std::vector<Node>> late = {{message(1, true, 1, 65536)},
                                                 {compute(0, 9), message(1, false, 0, 65536, {0})}};
    CHECK(run(late, regression_system(), ring_network(2), options).finish ==
          std::vector<Tick>(2, 9 * kMicrosecond + hop(8192) + hop(65536)));
}

TEST_CASE("unit.chakra.graph.messages_of_one_tag_match_in_order_tags_apart") {
    const std::vector<std::vector<Node>> ranks = {
        {message(0, true, 1, 1000, {}, 7), message(1, true, 1, 2000, {}, 7),
         message(2, true, 1, 3000, {}, 8)},
        {message(0, false, 0, 3000, {}, 8), message(1, false, 0, 1000, {}, 7),
         message(2, false, 0, 2000, {}, 7)}};
    const Outcome outcome = run(ranks, regression_system(), ring_network(2));
    CHECK(outcome.first_misfit == "");
    CHECK(outcome.complete);
}

TEST_CASE("unit.chakra.graph.roofline_compute_bound_memory_bound_and_nothing_without_a_tensor") {
    AstraSystem system = regression_system();
    system.roofline = true;
    system.peak_perf = 1;      // 1000 operations per ns
    system.local_mem_bw = 10;  // 10 bytes per ns
    Node bound = compute(0, 77);
    bound.attributes = {Attribute::int64("num_ops", 1'000'000),
                        Attribute::uint64("tensor_size", 1000)};
    Node memory = compute(1, 77, {0});
    memory.attributes = {Attribute::int64("num_ops", 1000), Attribute::uint64("tensor_size", 5000)};
    Node nothing = compute(2, 77, {1});
    nothing.attributes = {Attribute::int64("num_ops", 1000)};
    Node cpu = compute(3, 3, {2});
    cpu.attributes = {Attribute::boolean("is_cpu_op", true), Attribute::int64("num_ops", 10)};
    const Outcome outcome = run({{bound, memory, nothing, cpu}, {}}, system, ring_network(2));
    // 1e6 / 1000 = 1000 ns, 5000 / 10 = 500 ns, 0, and 3 us of the CPU as recorded.
    CHECK(outcome.finish[0] == ns(1000 + 500 + 3000));
    CHECK(outcome.ranks[0].compute_bound == doctest::Approx(2.0 / 3));
}

TEST_CASE("unit.chakra.graph.remote_memory_none_each_ranks_own_shared") {
    const auto load = [](std::uint64_t id) {
        Node node = test::node(id, NodeType::mem_load);
        node.attributes = {Attribute::uint64("tensor_size", 100'000)};
        return node;
    };
    const std::vector<std::vector<Node>> ranks(4, {load(0)});
    JobOptions options = options_for(ring_network(4));
    CHECK(run(ranks, regression_system(), ring_network(4), options).first_misfit ==
          "t.0.et:node 0: accesses remote memory, and there is none (NO_MEMORY_EXPANSION)");
    // 100 ns + 100,000 B / 100 B/ns = 1100 ns.
    options.memory = {RemoteMemory::Kind::per_npu, 0, 0, 100, 100};
    check_all(run(ranks, regression_system(), ring_network(4), options), 4, ns(1100));
    options.memory.kind = RemoteMemory::Kind::pool;
    CHECK(run(ranks, regression_system(), ring_network(4), options).finish ==
          std::vector<Tick>{ns(1100), ns(2200), ns(3300), ns(4400)});
    options.memory = {RemoteMemory::Kind::per_node, 2, 2, 100, 100};
    CHECK(run(ranks, regression_system(), ring_network(4), options).finish ==
          std::vector<Tick>{ns(1100), ns(2200), ns(1100), ns(2200)});
    options.memory.nodes = 1;
    CHECK(run(ranks, regression_system(), ring_network(4), options).first_misfit ==
          "remote memory: 1 nodes of 2 NPUs are fewer than the 4 ranks");
}

TEST_CASE("unit.chakra.graph.collectives_that_are_not_simulated_take_their_duration") {
    Node broadcast = collective(0, CollectiveType::broadcast, 100);
    broadcast.duration_us = 3;
    const Outcome outcome = run(same_on_all(2, {broadcast}), regression_system(), ring_network(2));
    check_all(outcome, 2, 3 * kMicrosecond);
    CHECK(outcome.report.count(ImportNote::Kind::skipped) == 2);
}

TEST_CASE("unit.chakra.graph.replay_only_everything_takes_its_duration") {
    AstraSystem system = regression_system();
    system.replay_only = true;
    Node reduce = collective(0, CollectiveType::all_reduce, kMebibyte);
    reduce.duration_us = 7;
    Node recv = message(1, false, 1, 10, {0});
    recv.duration_us = 2;
    check_all(run(same_on_all(2, {reduce, recv}), system, ring_network(2)), 2, 9 * kMicrosecond);
}

TEST_CASE("unit.chakra.graph.scales_of_computation_bytes_and_endpoint_delays") {
    JobOptions options = options_for(ring_network(2));
    options.compute_scale = 2.5;
    options.comm_scale = 2;
    options.expansion.injection_scale = 3;
    AstraSystem system = regression_system();
    system.dataset_splits = 1;
    check_all(
        run(same_on_all(2, {compute(0, 2), collective(1, CollectiveType::all_gather, 32768, {0})}),
            system, ring_network(2), options),
        2, 5 * kMicrosecond + ns(30) + hop(65536) + ns(30));
}

TEST_CASE("unit.chakra.graph.a_collectives_own_traces") {
    // Both ranks send half to each other, then reduce for 1 us.
    const test::TestFolder folder;
    for (int rank = 0; rank < 2; ++rank) {
        test::write_trace(folder.file("ring." + std::to_string(rank) + ".et"),
                          {message(0, true, 1 - rank, 65536), message(1, false, 1 - rank, 65536),
                           compute(2, 1, {1})});
    }
    AstraSystem system = regression_system();
    system.custom[0] = folder.file("ring");
    check_all(run(same_on_all(2, {collective(0, CollectiveType::all_reduce, kMebibyte)}), system,
                  ring_network(2)),
              2, hop(65536) + kMicrosecond);
    system.custom[0].clear();
    system.custom_by_node[4] = folder.file("ring");
    check_all(run(same_on_all(2, {collective(4, CollectiveType::all_gather, 10)}), system,
                  ring_network(2)),
              2, hop(65536) + kMicrosecond);
    system.custom[0] = folder.file("nowhere");
    CHECK_THROWS_AS(run(same_on_all(2, {collective(0, CollectiveType::all_reduce, 8)}), system,
                        ring_network(2)),
                    ConfigError);
}

TEST_CASE("unit.chakra.graph.a_job_written_as_traces_runs_as_it_did") {
    // Rank 0 computes 2.5 us (3 in Chakra) and sends; rank 1 receives and computes 4 us.
    JobGraph graph(2);
    const OpId first =
        graph.add_compute(0, 2500 * kNanosecond, {graph.intern("a"), OpClass::compute});
    const JobGraph::Pair pair = graph.add_message(0, 1, 65536, {graph.intern("m"), OpClass::pp});
    const OpId join = graph.add_delay(1, 0, {});
    const OpId second = graph.add_compute(1, 4 * kMicrosecond, {});
    graph.add_dependency(pair.from, first);
    graph.add_dependency(join, pair.to);
    graph.add_dependency(second, join);
    graph.finish();
    const test::TestFolder folder;
    ImportReport notes;
    export_job(graph, folder.file("t"), notes);
    CHECK(notes.count(ImportNote::Kind::skipped) == 1);
    ImportReport report;
    const std::vector<Trace> traces = read_traces(find_traces(folder.file("t")), 1, report);
    CHECK(report.count(ImportNote::Kind::misfit) == 0);
    const AstraSystem system = regression_system();
    const auto network = ring_network(2);
    const auto job = build_job(traces, system, options_for(network), report);
    REQUIRE(job != nullptr);
    const std::vector<FlowSpec> flows = job->graph.flows({0, 1});
    JobApplication application(job->graph, {0, 1});
    flowlevel::AnalyticalRun(network, flows, application).run();
    CHECK(application.last_end() == 3 * kMicrosecond + hop(65536) + 4 * kMicrosecond);
    JobGraph signals(2);
    signals.add_signal(0, 1, kMicrosecond, {});
    signals.finish();
    CHECK_THROWS_AS(export_job(signals, folder.file("s"), notes), ConfigError);
}

TEST_CASE("unit.chakra.graph.what_does_not_fit_together_is_said_by_file_and_node") {
    const auto misfit = [](const std::vector<std::vector<Node>>& ranks) {
        const Outcome outcome = run(ranks, regression_system(), ring_network(2));
        CHECK(outcome.finish.empty());
        return outcome.first_misfit;
    };
    const Node reduce = collective(3, CollectiveType::all_reduce, 64);
    CHECK(misfit({{reduce}}) == "t.0.et: there are traces of 1 ranks; the dimensions have 2 NPUs");
    CHECK(misfit({{reduce}, {}}) ==
          "t.0.et:node 3: has no partner on rank 1, which has 0 collectives of the world, not 1");
    CHECK(misfit({{reduce}, {collective(4, CollectiveType::all_gather, 64)}})
              .find("t.1.et:node 4: ALL_GATHER of 64 bytes is number 0 of the world, as is "
                    "ALL_REDUCE of 64 bytes at ") == 0);
    CHECK(misfit({{message(1, true, 1, 5)}, {}}) ==
          "t.0.et:node 1: has no partner: a recv of rank 1 with tag 0 is missing");
    CHECK(misfit({{message(1, true, 7, 5)}, {}}) ==
          "t.0.et:node 1: is with rank 7: the ranks are 0 to 1");
    CHECK(misfit({{message(1, true, 0, 5)}, {}}) ==
          "t.0.et:node 1: is a message of a rank to itself");
    Node grouped = reduce;
    grouped.attributes.push_back(Attribute::text("pg_name", "9"));
    CHECK(misfit({{grouped}, {grouped}}) ==
          "t.0.et:node 3: belongs to group 9, which neither the trace's METADATA nor a comm_group "
          "file defines");
    Node groups = test::node(0, NodeType::metadata);
    groups.inputs = IoInfo{R"([{"pg_name": "9", "ranks": [0, 0]}])", "", ""};
    CHECK(misfit({{groups, grouped}, {groups, grouped}}) ==
          "t.0.et:node 3: belongs to group 9, which lists a rank twice");
    groups.inputs = IoInfo{R"([{"pg_name": "9", "ranks": [0, 2]}])", "", ""};
    CHECK(misfit({{groups, grouped}, {groups, grouped}}) ==
          "t.0.et:node 3: belongs to group 9, which has rank 2: the ranks are 0 to 1");
    groups.inputs = IoInfo{R"([{"pg_name": "9", "ranks": [1]}])", "", ""};
    CHECK(misfit({{groups, grouped}, {groups, grouped}}) ==
          "t.0.et:node 3: belongs to group 9, which rank 0 is not a member of");
    Node narrow = reduce;
    narrow.attributes.push_back(Attribute::booleans("involved_dim", {}));
    CHECK(misfit({{narrow}, {narrow}}) ==
          "t.0.et:node 3: involved_dim has 0 entries; the network has 1 dimensions");
    Node cpu = reduce;
    cpu.attributes[0] = Attribute::boolean("is_cpu_op", true);
    CHECK(misfit({{cpu}, {cpu}}) ==
          "t.0.et:node 3: is a communication on the CPU: is_cpu_op must be false");
}

TEST_CASE("unit.chakra.graph.algorithms_that_cannot_serve_a_group_are_refused") {
    AstraSystem system = regression_system();
    const auto reduce = same_on_all(6, {collective(0, CollectiveType::all_reduce, 6000)});
    system.algorithms[0] = {{Algorithm::double_binary_tree, false, 0}};
    CHECK_THROWS_WITH_AS(run(reduce, system, ring_network(6)),
                         "system.json: doubleBinaryTree over 6 NPUs: a power of two is needed",
                         ConfigError);
    system.algorithms[0] = {{Algorithm::halving_doubling, false, 0}};
    CHECK_THROWS_AS(run(reduce, system, ring_network(6)), ConfigError);
    system.algorithms[0] = {};
    CHECK_THROWS_AS(run(reduce, system, ring_network(6)), ConfigError);
    system.algorithms[0].assign(2, DimensionAlgorithm{});
    CHECK_THROWS_AS(run(reduce, system, ring_network(6)), ConfigError);
}

TEST_CASE("unit.chakra.graph.collectives_of_all_kinds_and_algorithms_end_for_all_sizes") {
    // No figures: nothing hangs, nobody is left waiting, in three dimensions with shared queues.
    const flowlevel::AnalyticalConfig network{
        {{flowlevel::DimensionKind::ring, 2, 50, 500},
         {flowlevel::DimensionKind::switch_, 4, 25, 700},
         {flowlevel::DimensionKind::fully_connected, 2, 9, 3}},
        true};
    for (const auto algorithm : {Algorithm::ring, Algorithm::direct, Algorithm::halving_doubling,
                                 Algorithm::double_binary_tree}) {
        for (const bool flat : {false, true}) {
            if (flat && algorithm == Algorithm::double_binary_tree) continue;
            for (const std::uint32_t queues : {1U, 2U, 5U}) {
                AstraSystem system = regression_system(3);
                for (auto& algorithms : system.algorithms) {
                    algorithms.assign(flat ? 1 : 3, {algorithm, flat, queues - 1});
                }
                system.active_chunks = queues;
                system.dataset_splits = 3;
                JobOptions options = options_for(network);
                options.expansion.queues_per_dim = queues;
                std::vector<Node> nodes;
                const bool halving = algorithm == Algorithm::halving_doubling;
                for (const auto type :
                     {CollectiveType::all_reduce, CollectiveType::all_gather,
                      CollectiveType::reduce_scatter, CollectiveType::all_to_all}) {
                    if (halving && type == CollectiveType::all_to_all) continue;
                    for (const std::int64_t bytes : {0, 1, 17, 100'000}) {
                        nodes.push_back(collective(nodes.size(), type, bytes));
                    }
                }
                const Outcome outcome = run(same_on_all(16, nodes), system, network, options);
                CHECK(outcome.first_misfit == "");
                CHECK(outcome.complete);
            }
        }
    }
}

}  // namespace sluice::chakra
