// SPDX-License-Identifier: Apache-2.0
/// Partitions against a computation from scratch, after every step of random sequences.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/partition/flow_resources.h"
#include "core/partition/partition_set.h"
#include "core/random.h"
#include "core/routing/routing.h"
#include "core/topology/builders.h"
#include "tests/support/partition_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

class Draws {
  public:
    explicit Draws(std::uint64_t seed) : seed_(seed) {}
    std::uint32_t below(std::uint32_t bound) { return uniform_below(seed_, 1, n_++, bound); }

  private:
    std::uint64_t seed_;
    std::uint64_t n_ = 0;
};

using Uses = std::vector<ResourceId>;

/// Flows enter and leave at random; how full the network is swings, so that it fills and empties.
/// `uses` gives a flow's resources anew each time it enters. Returns the splits seen.
std::size_t run_random(std::uint64_t seed, FlowSlot flows, std::size_t resources, int steps,
                       const std::function<Uses(FlowSlot, Draws&)>& uses) {
    Draws draws(seed);
    CheckedPartitions both(resources);
    std::size_t splits = 0;
    for (int step = 0; step < steps; ++step) {
        const FlowSlot flow = draws.below(flows);
        const std::uint32_t percent = (step / 100) % 2 == 0 ? 80 : 25;
        const bool wanted = draws.below(100) < percent;
        if (wanted == both.set.contains(flow)) {
            continue;
        }
        if (wanted) {
            both.enter(flow, uses(flow, draws));
        } else {
            const std::size_t before = both.set.count();
            both.leave(flow);
            splits += both.set.count() > before ? 1 : 0;
        }
    }
    for (FlowSlot flow = 0; flow < flows; ++flow) {
        if (both.set.contains(flow)) {
            both.leave(flow);
        }
    }
    CHECK(both.set.count() == 0);
    return splits;
}

/// Data and ACKs by ECMP, each with the ports of its own direction.
Uses routed(const Topology& topology, const Routing& routing, NodeId src, NodeId dst,
            std::uint16_t sport) {
    FlowPath path;
    path.forward = routing.path({src, dst, sport, 100});
    path.reverse = routing.path({dst, src, 100, sport});
    return flow_resources(topology, path);
}

}  // namespace

TEST_CASE("unit.partition.random.rings_on_rails") {
    RailParams params;
    params.gpus = 64;
    params.servers_per_segment = 4;  // two segments: rings of 8 servers cross the spines
    const Topology topology = build_rail(params);
    const Routing routing(topology);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::size_t splits =
            run_random(seed, 64, resource_count(topology), 1200, [&](FlowSlot flow, Draws& draws) {
                const auto port = static_cast<std::uint16_t>(10'000 + draws.below(1000));
                return routed(topology, routing, flow, (flow + 8) % 64, port);
            });
        CHECK(splits > 20);
    }
}

TEST_CASE("unit.partition.random.pairs_on_a_fat_tree") {
    FatTreeParams params;
    params.k = 6;  // 54 hosts
    const Topology topology = build_fat_tree(params);
    const Routing routing(topology);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::size_t splits =
            run_random(seed, 24, resource_count(topology), 1200, [&](FlowSlot, Draws& draws) {
                const NodeId src = draws.below(54);
                const NodeId dst = (src + 1 + draws.below(53)) % 54;
                const auto port = static_cast<std::uint16_t>(10'000 + draws.below(1000));
                return routed(topology, routing, src, dst, port);
            });
        CHECK(splits > 10);
    }
}

TEST_CASE("unit.partition.random.incast_hubs") {
    // Three receivers; a flow in thirty goes to two of them, and holds their partitions together.
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::size_t splits =
            run_random(seed, 90, 6 + 90, 1500, [](FlowSlot flow, Draws& draws) {
                const ResourceId hub = draws.below(3);
                Uses uses{2 * hub + 1, 6 + flow, 2 * hub};
                if (draws.below(30) == 0) {
                    uses.push_back(2 * ((hub + 1) % 3));
                }
                return uses;
            });
        CHECK(splits > 2);
    }
}

TEST_CASE("unit.partition.random.chains_that_split_in_the_middle") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        // A chain; in odd seeds closed to a ring, with rungs of uneven width.
        const bool ring = seed % 2 == 1;
        const std::size_t splits =
            run_random(seed, 80, 82 + 80, 1500, [ring](FlowSlot flow, Draws& draws) {
                Uses uses{flow, ring ? (flow + 1) % 80 : flow + 1};
                for (std::uint32_t extra = draws.below(4); extra > 0; --extra) {
                    uses.push_back(82 + flow - draws.below(extra + 1) % (flow + 1));
                }
                return uses;
            });
        CHECK(splits > 50);
    }
}

TEST_CASE("unit.partition.random.sparse_graphs") {
    // Around the threshold at which a random graph falls apart, where all part sizes occur.
    for (const std::uint32_t resources : {30U, 60U, 90U, 150U}) {
        const std::size_t splits =
            run_random(resources, 60, resources, 2000, [resources](FlowSlot, Draws& draws) {
                Uses uses;
                for (std::uint32_t n = 1 + draws.below(3); n > 0; --n) {
                    uses.push_back(draws.below(resources));
                }
                return uses;
            });
        CHECK(splits > 20);
    }
}

TEST_CASE("unit.partition.random.wide_flows_over_clusters") {
    // Clusters of 5 resources with flows of two, and a few flows over 10 resources of any cluster:
    // one leave starts up to ten searches, of which some join, some finish, and many parts appear.
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::size_t splits = run_random(seed, 50, 60, 2000, [](FlowSlot flow, Draws& draws) {
            Uses uses;
            const ResourceId cluster = 5 * draws.below(12);
            for (int n = flow < 4 ? 10 : 2; n > 0; --n) {
                uses.push_back(flow < 4 ? draws.below(60) : cluster + draws.below(5));
            }
            return uses;
        });
        CHECK(splits > 20);
    }
}

TEST_CASE("unit.partition.random.same_calls_same_lists") {
    // Order included: two sets given the same calls hand out identical lists.
    PartitionSet a(40);
    PartitionSet b(0, 500);
    Draws draws(11);
    for (int step = 0; step < 5000; ++step) {
        const FlowSlot flow = draws.below(50);
        if (a.contains(flow)) {
            a.leave(flow);
            b.leave(flow);
        } else {
            const Uses uses{draws.below(40), draws.below(40)};
            a.enter(flow, uses);
            b.enter(flow, uses);
        }
        REQUIRE(a.partitions() == b.partitions());
        for (const PartitionId id : a.partitions()) {
            REQUIRE(a.flows(id) == b.flows(id));
            REQUIRE(a.resources(id) == b.resources(id));
        }
    }
    CHECK(a.examined() == b.examined());
}
