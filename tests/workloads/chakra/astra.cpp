// SPDX-License-Identifier: Apache-2.0
/// Collectives against ASTRA-sim itself: every figure here was printed by its own program (astra-sim
/// 518bd51 with astra-network-analytical 599a047), on one collective over all NPUs. Each case differs
/// from the others in the mechanism that it names.
#include <doctest/doctest.h>

#include "tests/support/chakra_support.h"

namespace sluice::chakra {
namespace {

using flowlevel::AnalyticalDimension;
using test::collective;
using test::options_for;
using test::Outcome;
using test::regression_system;
using test::run;

constexpr auto kRing = flowlevel::DimensionKind::ring;
constexpr auto kFull = flowlevel::DimensionKind::fully_connected;
constexpr auto kSwitch = flowlevel::DimensionKind::switch_;

struct Case {
    CollectiveType type = CollectiveType::all_reduce;
    std::int64_t bytes = 1 << 20;
    std::vector<AnalyticalDimension> dimensions;
    std::vector<DimensionAlgorithm> algorithms;
    std::uint32_t splits = 4;
    std::uint32_t active = 1;
    std::uint32_t queues = 1;
    bool aware = false;
    double endpoint_delay = 10;
    double local_mem_bw = 50;
};

std::vector<std::int64_t> cycles(const Case& of) {
    AstraSystem system = regression_system(of.dimensions.size());
    for (auto& algorithms : system.algorithms) algorithms = of.algorithms;
    system.dataset_splits = of.splits;
    system.active_chunks = of.active;
    system.endpoint_delay = of.endpoint_delay;
    system.local_mem_bw = of.local_mem_bw;
    const flowlevel::AnalyticalConfig network{of.dimensions, of.aware};
    JobOptions options = options_for(network);
    options.expansion.queues_per_dim = of.queues;
    options.expansion.chunk_order = ChunkOrder::arrival;
    const std::vector<std::vector<Node>> nodes(network.rank_count(),
                                               {collective(0, of.type, of.bytes)});
    const Outcome outcome = run(nodes, system, network, options);
    CHECK(outcome.first_misfit == "");
    CHECK(outcome.complete);
    std::vector<std::int64_t> result;
    for (const Tick finish : outcome.finish) result.push_back(finish / kNanosecond);
    return result;
}

void check_all(const Case& of, std::int64_t expected) {
    const std::vector<std::int64_t> found = cycles(of);
    CHECK(found == std::vector<std::int64_t>(found.size(), expected));
}

DimensionAlgorithm ring() { return {Algorithm::ring, false, 0}; }
DimensionAlgorithm direct(std::uint32_t window = 0) { return {Algorithm::direct, false, window}; }
DimensionAlgorithm halving() { return {Algorithm::halving_doubling, false, 0}; }
DimensionAlgorithm trees() { return {Algorithm::double_binary_tree, false, 0}; }

}  // namespace

TEST_CASE("unit.chakra.astra.chunks_take_a_queue_as_they_come_in_three_dimensions") {
    // The way down of a chunk meets the way up of later ones in the middle dimension's one queue.
    Case of;
    of.algorithms = {ring(), direct(), direct()};
    of.dimensions = {{kRing, 2, 50, 500}, {kFull, 2, 50, 500}, {kSwitch, 2, 50, 500}};
    check_all(of, 58'882);
    of.dimensions = {{kRing, 4, 100, 500}, {kFull, 2, 50, 500}, {kSwitch, 2, 25, 500}};
    check_all(of, 74'120);
}

TEST_CASE("unit.chakra.astra.a_second_half_begins_before_the_first_is_reduced_to_its_end") {
    Case of;
    of.algorithms = {direct()};
    of.dimensions = {{kRing, 4, 100, 20}};
    of.splits = 2;
    of.active = 2;
    of.endpoint_delay = 25;
    of.local_mem_bw = 10;
    check_all(of, 41'896);
}

TEST_CASE("unit.chakra.astra.messages_in_a_window_overtake_each_other") {
    Case of;
    of.bytes = 65536;
    of.splits = 1;
    of.endpoint_delay = 25;
    of.local_mem_bw = 1600;
    of.dimensions = {{kRing, 8, 25, 700}};
    of.algorithms = {direct(5)};
    check_all(of, 6285);
    of.type = CollectiveType::reduce_scatter;
    check_all(of, 3155);
    of.aware = true;
    check_all(of, 4985);
    of.type = CollectiveType::all_reduce;
    check_all(of, 9945);
    of.algorithms = {direct(2)};
    check_all(of, 16'960);
}

TEST_CASE("unit.chakra.astra.a_dimensions_two_trees_take_turns_from_phase_to_phase") {
    // The reduce-scatters have the one tree, the all-gathers the other.
    Case of;
    of.algorithms = {trees(), ring()};
    of.dimensions = {{kRing, 4, 50, 500}, {kRing, 2, 50, 500}};
    of.splits = 3;
    CHECK(cycles(of) == std::vector<std::int64_t>{693'470, 728'980, 721'960, 728'980, 693'470,
                                                  728'980, 721'960, 728'980});
}

TEST_CASE("unit.chakra.astra.half_of_the_queues_turn_the_other_way_in_the_first_dimension_too") {
    Case of;
    of.algorithms = {ring()};
    of.dimensions = {{kRing, 8, 50, 500}};
    of.aware = true;
    of.active = 4;
    of.queues = 2;
    of.type = CollectiveType::all_to_all;
    check_all(of, 34'680);
    of.type = CollectiveType::all_gather;
    check_all(of, 68'868);
}

TEST_CASE("unit.chakra.astra.halving_loses_the_odd_byte_where_it_turns_round") {
    Case of;
    of.algorithms = {halving()};
    of.dimensions = {{kSwitch, 8, 25, 20}};
    of.bytes = 1000;
    of.splits = 3;
    of.active = 3;
    of.queues = 2;
    of.local_mem_bw = 1600;
    check_all(of, 656);
}

TEST_CASE("unit.chakra.astra.whole_nanoseconds_are_cut_as_there") {
    Case of;
    of.type = CollectiveType::all_gather;
    of.bytes = 4 << 20;
    of.algorithms = {direct(), direct(3), halving()};
    of.dimensions = {{kFull, 3, 50, 20}, {kFull, 3, 50, 700}, {kRing, 4, 25, 1000}};
    of.splits = 1;
    check_all(of, 1'722'540);
}

TEST_CASE("unit.chakra.astra.without_congestion_a_message_is_charged_one_dimension") {
    Case of;
    of.algorithms = {{Algorithm::ring, true, 0}};
    of.dimensions = {{kRing, 2, 13.7, 20}, {kFull, 3, 50, 500}};
    check_all(of, 172'420);
}

}  // namespace sluice::chakra
