// SPDX-License-Identifier: Apache-2.0
/// Several jobs: which hosts they get, and that they run as if alone where they do not meet.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "core/job/job_set.h"
#include "core/job/placement.h"
#include "core/job/workload.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/plain_collectives.h"

using namespace sluice;

namespace {

/// 8 servers of 4 GPUs: hosts 0 to 31.
Topology servers() {
    Topology topology;
    const Rate rate = gigabits_per_second(100);
    for (int host = 0; host < 32; ++host) topology.add_node(NodeKind::host);
    const NodeId hub = topology.add_node(NodeKind::ethernet);
    for (NodeId host = 0; host < 32; ++host) {
        topology.add_link({host, hub, rate, kMicrosecond, 0});
    }
    topology.gpus_per_server = 4;
    topology.finish();
    return topology;
}

PlacementRequest request(Placement placement, std::uint32_t ranks, std::uint32_t unit = 0) {
    PlacementRequest r;
    r.placement = placement;
    r.ranks = ranks;
    r.unit = unit;
    return r;
}

JobGraph ring(RankId ranks, std::int64_t bytes) {
    JobGraph graph(ranks);
    Members members;
    for (RankId r = 0; r < ranks; ++r) {
        members.ranks.push_back(r);
        members.after.push_back(graph.add_compute(r, (r + 1) * kMicrosecond,
                                                  {graph.intern("x"), OpClass::compute, kNone}));
    }
    plain::ring_all_reduce(graph, {"ar", "g", OpClass::dp, bytes}, members);
    const OpId first =
        graph.add_meet(members.ranks, 5 * kMicrosecond, {graph.intern("m"), OpClass::tp, kNone});
    for (RankId r = 0; r < ranks; ++r) graph.add_dependency(first + r, members.after[r]);
    graph.finish();
    return graph;
}

std::vector<Tick> ends(const JobApplication& job) {
    std::vector<Tick> all;
    for (OpId op = 0; op < job.graph().op_count(); ++op) all.push_back(job.end(op));
    return all;
}

}  // namespace

TEST_CASE("unit.job_placement.packed_takes_the_first_free_servers") {
    const Topology topology = servers();
    HostPool pool(topology);
    CHECK(pool.take(request(Placement::packed, 8)) == std::vector<NodeId>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(pool.take(request(Placement::packed, 2)) == std::vector<NodeId>{8, 9});
    // Server 2 is broken into: the next whole one is server 3.
    CHECK(pool.take(request(Placement::packed, 4)) == std::vector<NodeId>{12, 13, 14, 15});
    CHECK(pool.free_count() == 18);
    // All that is left, parts of servers included.
    CHECK(pool.take(request(Placement::packed, 0)).size() == 18);
    CHECK(error_of([&] {
              pool.take(request(Placement::packed, 1));
          }).find("wants 1 hosts, 0 of 32 are free") != std::string::npos);
}

TEST_CASE("unit.job_placement.servers_of_unequal_size") {
    Topology topology;
    for (int host = 0; host < 20; ++host) topology.add_node(NodeKind::host);
    topology.finish();
    topology.gpus_per_server = 6;
    topology.server_sizes = {6, 4, 6, 4};
    HostPool pool(topology);
    PlacementRequest pairs = request(Placement::packed, 4);
    pairs.unit = 4;
    // One unit of a server of six, none across the gap.
    CHECK(pool.take(pairs) == std::vector<NodeId>{0, 1, 2, 3});
    CHECK(pool.take(pairs) == std::vector<NodeId>{6, 7, 8, 9});
    CHECK(pool.take(request(Placement::spread, 8)) ==
          std::vector<NodeId>{4, 5, 10, 11, 12, 13, 14, 15});
    CHECK(pool.take(request(Placement::packed, 3)) == std::vector<NodeId>{16, 17, 18});
    CHECK(pool.free_count() == 1);
    HostPool other(topology);
    const std::vector<NodeId> drawn = other.take(request(Placement::random, 10));
    CHECK(drawn.size() == 10);
    CHECK(other.free_count() == 10);
}

TEST_CASE("unit.job_placement.spread_leaves_even_gaps") {
    const Topology topology = servers();
    HostPool pool(topology);
    // Servers 0 and 4 of 8.
    CHECK(pool.take(request(Placement::spread, 8)) ==
          std::vector<NodeId>{0, 1, 2, 3, 16, 17, 18, 19});
    // Units of one host: 24 are free, every sixth of them.
    CHECK(pool.take(request(Placement::spread, 4, 1)) == std::vector<NodeId>{4, 10, 20, 26});
}

TEST_CASE("unit.job_placement.random_is_by_seed_and_keeps_servers_whole") {
    const Topology topology = servers();
    PlacementRequest wanted = request(Placement::random, 16);
    std::set<std::vector<NodeId>> seen;
    for (wanted.seed = 1; wanted.seed <= 20; ++wanted.seed) {
        HostPool pool(topology);
        HostPool again(topology);
        const std::vector<NodeId> hosts = pool.take(wanted);
        CHECK(hosts == again.take(wanted));
        for (std::size_t i = 0; i < hosts.size(); ++i) CHECK(hosts[i] % 4 == i % 4);
        // Nobody gets a host twice.
        std::set<NodeId> all(hosts.begin(), hosts.end());
        const std::vector<NodeId> more = pool.take(wanted);
        all.insert(more.begin(), more.end());
        CHECK(all.size() == 32);
        seen.insert(hosts);
    }
    CHECK(seen.size() > 15);
}

TEST_CASE("unit.job_placement.listed_hosts_must_be_free_hosts") {
    const Topology topology = servers();
    HostPool pool(topology);
    PlacementRequest wanted = request(Placement::listed, 0);
    wanted.hosts = {5, 3, 9};
    CHECK(pool.take(wanted) == std::vector<NodeId>{5, 3, 9});
    wanted.hosts = {1, 9};
    CHECK(error_of([&] { pool.take(wanted); }).find("host 9") != std::string::npos);
    wanted.hosts = {32};
    CHECK(error_of([&] { pool.take(wanted); }).find("node 32 of the job's list is no host") !=
          std::string::npos);
}

TEST_CASE("unit.job_placement.jobs_side_by_side_run_as_if_alone") {
    // On a network without contention each job's times are its own, later by its start.
    const auto alone = [](RankId ranks, std::int64_t bytes) {
        Workload work = make_workload(ring(ranks, bytes), fake::hosts(ranks));
        fake::Engine(*work.application, work.flows, ranks).run();
        return ends(*work.application);
    };
    for (const bool threads : {false, true}) {
        JobSet set;
        std::vector<FlowSpec> flows;
        const std::vector<std::vector<NodeId>> hosts = {{4, 1, 6}, {0, 2, 3, 5}};
        const std::vector<Tick> starts = {0, 7 * kMicrosecond};
        for (std::size_t i = 0; i < 2; ++i) {
            Workload work =
                make_workload(ring(static_cast<RankId>(hosts[i].size()), 5000 + 700 * i), hosts[i]);
            work.application->set_first_flow(static_cast<FlowId>(flows.size()));
            flows.insert(flows.end(), work.flows.begin(), work.flows.end());
            set.add(std::move(work.application), starts[i]);
        }
        fake::Engine engine(set, flows, 7);
        engine.run_windows(threads);
        for (std::size_t i = 0; i < 2; ++i) {
            std::vector<Tick> expected =
                alone(static_cast<RankId>(hosts[i].size()), 5000 + 700 * i);
            for (Tick& end : expected) end += starts[i];
            CHECK(ends(set.job(i)) == expected);
        }
    }
}
