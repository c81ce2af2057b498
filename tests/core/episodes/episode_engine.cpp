// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/episode_engine.h"

#include <doctest/doctest.h>

#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("unit.episode_engine.no_flow_ends_before_its_least_time") {
    std::size_t compared = 0;
    for_chained_cases(
        61'000, 20, {}, [&](std::uint64_t /*seed*/, Case& given, Application* application) {
            Routing routing(given.topology);
            step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                                   application);
            store.pin_list();
            step::FlowPartitions partitions(store);
            hybrid::NetworkView view(store, partitions);
            const hybrid::EpisodeEngine engine(store, view);
            PhaseConfig config;
            config.skip = false;
            hybrid::PhaseEngine acts(store, partitions, view);
            hybrid::PhaseController controller(acts, partitions, nullptr, nullptr, config,
                                               given.stop);
            std::map<FlowSlot, Tick> least;
            store.begin();
            step::CellStep step_cell(store.world());
            engine::Driver driver(store, {}, {}, engine::Clocks::one, partitions, &controller);
            driver.advance(given.stop, step_cell, [&] {
                for (FlowSlot flow = 0; flow < given.flows.size(); ++flow) {
                    if (least.count(flow) == 0 && partitions.contains(flow) && view.active(flow) &&
                        !view.tracks(flow).data.empty()) {
                        least.insert({flow, engine.least_time(flow)});
                    }
                }
            });
            for (const auto& [flow, time] : least) {
                const FlowResult& result = store.results()[flow];
                if (result.received != kNever) {
                    CHECK(result.received - result.start >= time);
                    ++compared;
                }
            }
        });
    CHECK(compared > 50);
}
