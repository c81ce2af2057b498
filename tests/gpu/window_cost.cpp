// SPDX-License-Identifier: Apache-2.0
/// A lane's window costs what there is to do, not how large the network is.
#include "gpu/blocks/run_gang.h"
#include "tests/support/lane_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// One thread, which counts the things that it looks at.
struct CountingGang {
    std::uint64_t& looked_at;
    static bool first() { return true; }
    std::uint32_t item(std::uint32_t k, std::uint32_t count) const {
        looked_at += k < count ? 1 : 0;
        return k;
    }
    static Tick min(Tick at) { return at; }
    static bool any(bool said) { return said; }
};

struct Cost {
    std::uint64_t things = 0;
    std::uint64_t windows = 0;
};

/// Of one flow between neighbours in a fat-tree.
Cost cost_of(int k) {
    FatTreeParams params;
    params.k = k;
    const Topology topology = build_fat_tree(params);
    const std::vector<FlowSpec> flows = {flow(0, 1, 500'000, 0)};
    const NetworkConfig config = config_for(congestion::Law::dctcp);
    Routing routing(topology);
    step::WorldStore store(topology, routing, config, flows, {}, nullptr);
    store.pin_list();
    store.begin();
    gpu::HostMemory memory;
    gpu::LaneImage image(store, {}, {}, memory, {});
    Cost cost;
    for (gpu::Outcome outcome = gpu::Outcome::full; outcome == gpu::Outcome::full;) {
        std::vector<gpu::GangThread> threads = gpu::gang_threads(image.lane(), 1);
        CountingGang gang{cost.things};
        gpu::Program<CountingGang> program(image.lane(), threads[0].world, gang);
        outcome = threads[0].outcome = program.run(1'000'000);
        gpu::add_up(image.lane(), threads);
        if (outcome == gpu::Outcome::full) {
            image.lane().arena = image.grow(image.lane().arena);
            REQUIRE(image.lane().arena.base != nullptr);
        }
    }
    image.save(store);
    REQUIRE(store.results()[0].finish != kNever);
    cost.windows = image.lane().windows;
    return cost;
}

}  // namespace

TEST_CASE("unit.window_cost.of_one_flow") {
    const Cost small = cost_of(4);
    const Cost large = cost_of(16);
    CHECK(small.windows == large.windows);
    // 1,024 hosts and 5,120 switch ports, of which the large network has 32 a block to look at twice a window.
    const std::uint64_t blocks = 2 * ((1024 + 5120) / gpu::kBlock) * large.windows;
    CHECK(large.things < small.things + blocks);
    CHECK(large.things - blocks < 40 * large.windows);
}
