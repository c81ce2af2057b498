// SPDX-License-Identifier: Apache-2.0
/// Partition clocks where there are many: sparse traffic in which partitions merge and split all the
/// time, run apart on shared switches under occupancy bounds, and are moved forth and back. The test counts
/// how often each of these happened, and every run is what one clock gives.
#include "tests/support/clock_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Topology wide_topology(Dice& dice) {
    switch (dice.below(5)) {
        case 0: return build_fat_tree({});
        case 1: return build_leaf_spine({4, 4, 4, 2, {}, {}});
        case 2: {
            RailParams rail;
            rail.gpus = 32;
            rail.gpus_per_server = 4;
            rail.servers_per_segment = 4;
            return build_rail(rail);
        }
        case 3: return build_torus({{3, 3}, 2, {}, {}});
        default: return build_star({16, {}});
    }
}

/// Few flows at a time, each of some ten round trips, between any two hosts.
Case sparse_case(std::uint64_t seed, bool roomy) {
    Dice dice(seed);
    Case made;
    RandomOptions options;
    options.lossless = true;
    made.topology = random_links(dice, wide_topology(dice), options, false);
    made.config = random_config(dice, made.topology, options);
    made.config.pfc = dice.chance(70);
    made.config.congestion.window = dice.chance(90);
    if (dice.chance(30)) {  // some send again what is only late
        made.config.nic.retransmit_timeout = (10 + dice.below(60)) * kMicrosecond;
    }
    made.config.buffer.size = Bytes{(roomy ? 1 << 26 : 12'000 + dice.below(40'000)) +
                                    (made.config.pfc ? pfc_share(made.topology, made.config) : 0)};
    const std::vector<NodeId>& hosts = made.topology.hosts();
    const auto any = [&] { return hosts[dice.below(static_cast<std::uint32_t>(hosts.size()))]; };
    while (made.flows.size() < 200) {
        const bool hot = !roomy && dice.chance(30);  // an incast without end
        const FlowSpec spec =
            flow(any(), hot ? hosts.front() : any(), 1 + dice.below(150'000),
                 static_cast<Tick>(made.flows.size()) * 12 * kMicrosecond + dice.below(10'000'000));
        if (spec.src != spec.dst) {
            made.flows.push_back(spec);
        }
    }
    assign_source_ports(made.flows);
    made.stop = 6 * kMillisecond;
    made.name = "seed " + std::to_string(seed) + ", " + made.topology.name + ", " +
                congestion::law_name(made.config.congestion.law);
    return made;
}

void show(const ClockCounts& counts) {
    MESSAGE(counts.clocks.windows_solo
            << " solo windows, " << counts.clocks.windows_joint << " joint, "
            << counts.clocks.bounded_stretches << " of " << counts.clocks.stretches
            << " stretches bounded, " << counts.clocks.bound_stops << " bound stops, "
            << counts.clocks.merges << " merges, " << counts.clocks.splits
            << " splits, domains: " << counts.clocks.domains_merged << " merged, "
            << counts.clocks.domains_split << " split, most " << counts.clocks.most_domains << "; "
            << counts.zero_skips << " zero skips");
}

}  // namespace

TEST_CASE("unit.clock.domains.a_thousand_of_each") {
    ClockCounts counts;
    for (std::uint64_t seed = 21000; seed < 21090; ++seed) {
        Case given = sparse_case(seed, true);
        Dice dice(seed);
        Relay relay;
        if (seed % 2 == 0) {
            relay_flows(given, dice, relay);
        }
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_clocks(given, false, counts));
        check_same(expected, run_clocks(given, true, counts));
    }
    show(counts);
    CHECK(counts.clocks.merges >= 1000);
    CHECK(counts.clocks.splits >= 1000);
    CHECK(counts.clocks.bounded_stretches >= 1000);
    CHECK(counts.zero_skips >= 1000);
}

TEST_CASE("unit.clock.domains.tiny_buffers_couple") {
    ClockCounts counts;
    std::uint64_t pauses = 0;
    std::uint64_t drops = 0;
    for (std::uint64_t seed = 22000; seed < 22030; ++seed) {
        const Case given = sparse_case(seed, false);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_clocks(given, false, counts));
        check_same(expected, run_clocks(given, true, counts));
        pauses += expected.counters.pfc_pauses;
        drops += expected.counters.drops;
    }
    show(counts);
    CHECK(counts.clocks.bound_stops > 100);
    CHECK(pauses > 0);
    CHECK(drops > 0);
}
