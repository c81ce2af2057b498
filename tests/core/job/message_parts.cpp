// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/job/job_graph.h"

using namespace sluice;

namespace {

struct Sent {
    RankId from = 0;
    RankId to = 0;
    std::int64_t bytes = 0;
    std::uint32_t channel = 0;
    JobGraph::Pair ends{};
};

/// A chain of messages of some channels, each after the one before has come where that is at its sender.
JobGraph chain(const std::vector<std::int64_t>& sizes, std::vector<Sent>& sent) {
    JobGraph graph(3);
    const Label label{graph.intern("ring"), OpClass::dp, kNone};
    const NameId group = graph.intern("group");
    OpId last = kNone;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto from = static_cast<RankId>(i % 3);
        Sent one{from, (from + 1) % 3, sizes[i], static_cast<std::uint32_t>(i % 2), {}};
        one.ends = graph.add_message(one.from, one.to, one.bytes, label,
                                     graph.communicator(group, one.channel));
        graph.add_dependency(one.ends.from, last);
        last = one.ends.to;
        sent.push_back(one);
    }
    return graph;
}

bool follows(const JobGraph& graph, OpId op, OpId on) {
    const OpSpan successors = graph.successors(on);
    return std::find(successors.begin(), successors.end(), op) != successors.end();
}

}  // namespace

TEST_CASE("unit.job_graph.parts_of_messages_are_all_of_them") {
    std::mt19937_64 random(3);
    for (int turn = 0; turn < 50; ++turn) {
        std::vector<std::int64_t> sizes;
        for (std::size_t i = 0; i < 12; ++i) {
            sizes.push_back(static_cast<std::int64_t>(random() % (turn < 25 ? 20'000 : 1'000'000)) +
                            1);
        }
        const auto pairs = static_cast<std::uint32_t>(random() % 7 + 1);
        std::vector<Sent> sent;
        JobGraph graph = chain(sizes, sent);
        // From rank 0 each message goes whole.
        graph.set_queue_pairs([&](RankId from, RankId) { return from == 0 ? 1 : pairs; });
        graph.finish();
        const std::vector<FlowSpec> flows = graph.flows({0, 1, 2});
        std::map<RankId, std::int64_t> bytes;
        std::map<ConnectionId, std::pair<RankId, std::uint8_t>> connections;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const FlowSpec& flow = flows[i];
            bytes[flow.src] += flow.size;
            CHECK((flow.nic_port == kAnyPort) == (flow.size == sizes[i] && i < sizes.size()));
            // A connection is of one sender and one of its ports, unless some of its messages are too short to be split.
            const auto found =
                connections.try_emplace(flow.connection, flow.src, flow.nic_port).first;
            CHECK(found->second.first == flow.src);
        }
        std::map<RankId, std::int64_t> wanted;
        std::size_t parts = 0;
        for (const Sent& one : sent) {
            wanted[one.from] += one.bytes;
            const std::int64_t most = std::max<std::int64_t>(1, one.bytes / JobGraph::kLeastPart);
            parts +=
                one.from == 0 ? 1 : static_cast<std::size_t>(std::min<std::int64_t>(pairs, most));
        }
        CHECK(bytes == wanted);
        CHECK(flows.size() == parts);
    }
}

TEST_CASE("unit.job_graph.what_waits_for_a_message_waits_for_all_parts") {
    std::vector<Sent> sent;
    JobGraph graph = chain({100'000, 100'001}, sent);
    graph.set_queue_pairs([](RankId, RankId) { return 4; });
    graph.finish();
    REQUIRE(graph.messages().size() == 8);
    std::multiset<std::int64_t> sizes;
    for (std::uint32_t i = 0; i < 8; ++i) {
        const JobGraph::Message& part = graph.messages()[i];
        const bool first = graph.rank(part.send) == 0;
        const JobGraph::Pair& whole = sent[first ? 0 : 1].ends;
        CHECK(graph.kind(part.send) == OpKind::send);
        CHECK(graph.target(part.recv) == i);
        CHECK(follows(graph, whole.from, part.send));
        CHECK(follows(graph, whole.to, part.recv));
        CHECK(graph.dependency_count(part.recv) == 0);
        // The second message's parts wait for the first one's last, none for each other.
        CHECK(graph.dependency_count(part.send) == (first ? 0 : 1));
        CHECK(follows(graph, part.send, sent[0].ends.to) == !first);
        if (!first) sizes.insert(part.bytes);
    }
    CHECK(sizes == std::multiset<std::int64_t>{25'000, 25'000, 25'000, 25'001});
    for (const Sent& one : sent) {
        CHECK(graph.kind(one.ends.from) == OpKind::delay);
        CHECK(graph.duration(one.ends.to) == 0);
        CHECK(graph.dependency_count(one.ends.from) == 4);
    }
}

TEST_CASE("unit.job_graph.parts_keep_their_connections") {
    // Twice the same channel between the same two: part i of both is on one connection, no two parts on the same.
    JobGraph graph(2);
    const Label label{graph.intern("ring"), OpClass::dp, kNone};
    const CommunicatorId communicator = graph.communicator(label.name, 0);
    graph.add_message(0, 1, 90'000, label, communicator);
    graph.add_message(0, 1, 60'000, label, communicator);
    graph.add_message(0, 1, 60'000, label);
    graph.set_queue_pairs([](RankId, RankId) { return 3; });
    graph.finish();
    const std::vector<FlowSpec> flows = graph.flows({5, 6});
    REQUIRE(flows.size() == 9);
    std::map<ConnectionId, std::multiset<std::int64_t>> sizes;
    std::map<ConnectionId, std::set<int>> ports;
    for (const FlowSpec& flow : flows) {
        sizes[flow.connection].insert(flow.size);
        ports[flow.connection].insert(flow.nic_port);
    }
    REQUIRE(sizes.size() == 4);
    for (const auto& [connection, of] : sizes) {
        if (connection == kNone) {
            CHECK(of.size() == 3);
        } else {
            CHECK(of == std::multiset<std::int64_t>{20'000, 30'000});
            CHECK(ports[connection].size() == 1);
        }
    }
    CHECK(graph.messages().connection_count() == 3);
}

TEST_CASE("unit.job_graph.one_queue_pair_changes_nothing") {
    for (const bool set : {false, true}) {
        std::vector<Sent> sent;
        JobGraph graph = chain({100'000, 100'001, 5}, sent);
        if (set) graph.set_queue_pairs([](RankId, RankId) { return 1; });
        graph.finish();
        CHECK(graph.op_count() == 6);
        CHECK(graph.kind(sent[0].ends.from) == OpKind::send);
        for (const FlowSpec& flow : graph.flows({0, 1, 2})) CHECK(flow.nic_port == kAnyPort);
    }
}
