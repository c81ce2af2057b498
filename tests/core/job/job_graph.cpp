// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "core/error.h"
#include "core/job/job_checks.h"
#include "core/job/job_graph.h"
#include "tests/support/error_of.h"

using namespace sluice;

namespace {

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("unit.job_graph.columns_and_successors") {
    JobGraph graph(2);
    const Label label = {graph.intern("step"), OpClass::dp, kNone};
    const OpId a = graph.add_delay(0, 5, label);
    const JobGraph::Pair message = graph.add_message(0, 1, 100, label);
    const OpId b = graph.add_delay(1, 7, label);
    graph.add_dependency(message.from, a);
    graph.add_dependency(b, message.to);
    graph.add_dependency(b, kNone);
    graph.finish();
    CHECK(graph.op_count() == 4);
    CHECK(graph.kind(message.to) == OpKind::recv);
    CHECK(graph.rank(message.to) == 1);
    CHECK(graph.dependency_count(a) == 0);
    CHECK(graph.dependency_count(b) == 1);
    REQUIRE(graph.successors(a).size() == 1);
    CHECK(*graph.successors(a).begin() == message.from);
    CHECK(graph.successors(message.from).empty());
    CHECK(graph.ops_of(0).size() == 2);
    CHECK(graph.name(graph.label(a).name) == "step");
    const std::vector<FlowSpec> flows = graph.flows({10, 20, 30});
    REQUIRE(flows.size() == 1);
    CHECK(flows[0].src == 10);
    CHECK(flows[0].dst == 20);
    CHECK(flows[0].size == 100);
    CHECK(flows[0].start == kNever);
    CHECK(mentions(error_of([&] { graph.flows({10}); }), "needs a host of its own"));
}

TEST_CASE("unit.job_graph.refuses_local_cycles_and_names_them") {
    JobGraph graph(1);
    const OpId a = graph.add_delay(0, 1, {graph.intern("alpha"), OpClass::other, kNone});
    const OpId b = graph.add_delay(0, 1, {graph.intern("beta"), OpClass::other, kNone});
    const OpId c = graph.add_delay(0, 1, {graph.intern("behind"), OpClass::other, kNone});
    graph.add_dependency(a, b);
    graph.add_dependency(b, a);
    graph.add_dependency(c, b);
    const std::string text = error_of([&] { graph.finish(); });
    CHECK(mentions(text, "cycle"));
    CHECK(mentions(text, "rank 0 delay \"alpha\" (operation 0)"));
    CHECK(mentions(text, "rank 0 delay \"beta\" (operation 1)"));
    CHECK_FALSE(mentions(text, "behind"));
}

TEST_CASE("unit.job_graph.refuses_to_wait_for_itself") {
    JobGraph graph(1);
    const OpId a = graph.add_delay(0, 1, {});
    graph.add_dependency(a, a);
    CHECK(mentions(error_of([&] { graph.finish(); }), "operation 0"));
}

TEST_CASE("unit.job_graph.compute_order_contradicting_dependencies_is_a_cycle") {
    // The stream runs first before second, but first depends on second.
    JobGraph graph(1);
    const OpId first = graph.add_compute(0, 1, {graph.intern("first"), OpClass::compute, kNone});
    const OpId second = graph.add_compute(0, 1, {graph.intern("second"), OpClass::compute, kNone});
    graph.add_dependency(first, second);
    CHECK(mentions(error_of([&] { graph.finish(); }), "cycle"));
}

TEST_CASE("unit.job_graph.refuses_messages_that_deadlock") {
    // Both ranks receive before they send.
    JobGraph graph(2);
    const JobGraph::Pair ab = graph.add_message(0, 1, 1, {graph.intern("ab"), OpClass::pp, kNone});
    const JobGraph::Pair ba = graph.add_message(1, 0, 1, {graph.intern("ba"), OpClass::pp, kNone});
    graph.add_dependency(ab.from, ba.to);
    graph.add_dependency(ba.from, ab.to);
    const std::string text = error_of([&] { graph.finish(); });
    CHECK(mentions(text, "rank 0 send \"ab\""));
    CHECK(mentions(text, "rank 1 recv \"ab\""));
    CHECK(mentions(text, "rank 1 send \"ba\""));
}

TEST_CASE("unit.job_graph.refuses_dangling_and_remote_dependencies") {
    {
        JobGraph graph(1);
        const OpId a = graph.add_delay(0, 1, {graph.intern("lonely"), OpClass::other, kNone});
        graph.add_dependency(a, 99);
        const std::string text = error_of([&] { graph.finish(); });
        CHECK(mentions(text, "\"lonely\""));
        CHECK(mentions(text, "operation 99, which does not exist"));
    }
    {
        JobGraph graph(1);
        graph.add_dependency(7, 0);
        CHECK(mentions(error_of([&] { graph.finish(); }), "operation 7"));
    }
    {
        JobGraph graph(2);
        const OpId a = graph.add_delay(0, 1, {});
        const OpId b = graph.add_delay(1, 1, {});
        graph.add_dependency(b, a);
        CHECK(mentions(error_of([&] { graph.finish(); }), "only by a message or a signal"));
    }
}

TEST_CASE("unit.job_graph.refuses_impossible_values") {
    JobGraph graph(2);
    CHECK(mentions(error_of([&] { graph.add_delay(2, 1, {}); }), "ranks are 0 to 1"));
    CHECK(mentions(error_of([&] { graph.add_delay(0, -1, {}); }), "negative duration"));
    CHECK(mentions(error_of([&] { graph.add_message(0, 0, 1, {}); }), "to itself"));
    CHECK(mentions(error_of([&] { graph.add_message(0, 1, 0, {}); }), "at least 1"));
    CHECK(mentions(error_of([&] { graph.add_signal(0, 5, 1, {}); }), "rank 5 does not exist"));
    CHECK(mentions(error_of([&] { JobGraph none(0); }), "at least one rank"));
    CHECK(graph.op_count() == 0);
}

TEST_CASE("unit.job_graph.signals_between_ranks_need_the_lookahead") {
    JobGraph graph(2);
    graph.add_signal(0, 0, 0, {});
    graph.add_signal(0, 1, 900, {graph.intern("barrier"), OpClass::other, kNone});
    graph.finish();
    check_signals(graph, 900);
    const std::string text = error_of([&] { check_signals(graph, 901); });
    CHECK(mentions(text, "\"barrier\""));
    CHECK(mentions(text, "after 900ps: at least 901ps is needed"));
}

TEST_CASE("unit.job_graph.connections_join_two_ranks_of_a_communicator") {
    JobGraph graph(3);
    const Label label = {graph.intern("step"), OpClass::dp, kNone};
    const CommunicatorId first = graph.communicator(graph.intern("dp0"), 0);
    const CommunicatorId other = graph.communicator(graph.intern("dp0"), 1);
    CHECK(graph.communicator(graph.intern("dp0"), 0) == first);
    CHECK(graph.communicator(graph.intern("dp1"), 0) != first);
    for (int times = 0; times < 2; ++times) {
        graph.add_message(0, 1, 8, label, first);
        graph.add_message(1, 0, 8, label, first);
        graph.add_message(0, 2, 8, label, first);
        graph.add_message(0, 1, 8, label, other);
        graph.add_message(0, 1, 8, label);
    }
    graph.finish();
    CHECK(graph.messages().connection_count() == 4);
    for (std::uint32_t message = 0; message < 4; ++message) {
        CHECK(graph.messages().connection(message) == message);
        CHECK(graph.messages().connection(message + 5) == message);
    }
    CHECK(graph.messages().connection(4) == kNone);
    CHECK(graph.flows({0, 1, 2})[8].connection == 3);
}

TEST_CASE("unit.job_graph.a_million_connections_are_told_apart") {
    ConnectionTable table;
    for (std::uint32_t round = 0; round < 2; ++round) {
        for (std::uint32_t src = 0; src < 500; ++src) {
            for (std::uint32_t dst = 0; dst < 1000; ++dst) {
                for (std::uint32_t channel = 0; channel < 2; ++channel) {
                    REQUIRE(table.find_or_add(src, dst, channel) ==
                            (src * 1000 + dst) * 2 + channel);
                }
            }
        }
    }
    CHECK(table.count() == 1'000'000);
}
