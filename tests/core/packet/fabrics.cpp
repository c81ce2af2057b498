// SPDX-License-Identifier: Apache-2.0
/// Random fabrics with every transport, law and way to balance, with losses of up to 5%, trimming and cables that fail: in the
/// end everything has arrived, and one event after the other gives the same.
#include <algorithm>
#include <cmath>

#include "tests/support/clock_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Topology fabric(Dice& dice) {
    const std::uint64_t shape = dice.below(3);
    const auto spines = static_cast<std::int32_t>(1 + dice.below(4));
    const Topology plain = shape == 0   ? build_star({6, {}})
                           : shape == 1 ? build_leaf_spine({4, spines, 4, 1, {}, {}})
                                        : build_fat_tree({4, {}, {}});
    const double exponent = -6 + 4.7 * static_cast<double>(dice.below(1000)) / 1000;
    const double loss = dice.chance(75) ? std::pow(10.0, exponent) : 0;
    const Tick delay = static_cast<Tick>(1 + dice.below(20)) * 250 * kNanosecond;
    return with_links(plain, [&](Link& link) {
        link.loss = loss;
        link.delay = delay;
    });
}

void choose_nic(Dice& dice, NetworkConfig& config) {
    NicConfig& nic = config.nic;
    const bool selective = config.congestion.law == congestion::Law::nscc ||
                           config.congestion.law == congestion::Law::rccc || dice.chance(85);
    nic.transport = selective ? Transport::selective_repeat : Transport::go_back_n;
    nic.reorder_window = 64U << dice.below(7);
    nic.reorder_threshold =
        dice.chance(30) ? 1 : 1 + static_cast<std::uint32_t>(dice.below(nic.reorder_window - 1));
    nic.retransmit_timeout = dice.chance(50) ? 200 * kMicrosecond : kMillisecond;
    nic.ack_every = dice.chance(30) ? 2 + static_cast<std::int32_t>(dice.below(8)) : 1;
}

void choose_switches(Dice& dice, NetworkConfig& config) {
    const bool selective = config.nic.transport == Transport::selective_repeat;
    const LoadBalance ways[] = {LoadBalance::ecmp,        LoadBalance::spray,
                                LoadBalance::round_robin, LoadBalance::adaptive,
                                LoadBalance::flowlet,     LoadBalance::entropy};
    config.load_balance = ways[dice.below(selective ? 6 : 5)];
    config.spray.band = static_cast<std::int64_t>(1 + dice.below(20'000));
    config.spray.flowlet_gap = static_cast<Tick>(dice.below(30)) * kMicrosecond;
    config.spray.entropy_values = 1 + static_cast<std::uint32_t>(dice.below(256));
    config.spray.entropy_recycle = dice.chance(50);
    config.spray.entropy_avoid = dice.chance(50);
    config.pfc = dice.chance(40);
    if (config.pfc) return;
    config.buffer.size = Bytes{dice.chance(50) ? 200'000 : 2'000'000};
    if (selective && dice.chance(60)) {
        config.trim.threshold = static_cast<std::int64_t>(2'000 + dice.below(100'000));
        config.trim.queue = static_cast<std::int64_t>(dice.below(20'000));
        config.trim.priority = static_cast<std::uint8_t>(dice.chance(60) ? 0 : dice.below(8));
        config.trim.victim = dice.chance(50) ? TrimVictim::drawn : TrimVictim::arriving;
        config.trim.reference_rate = gigabits_per_second(dice.chance(50) ? 100 : 0);
    }
}

Case random_fabric(std::uint64_t seed) {
    Dice dice(seed * 7919 + 13);
    Case given;
    given.topology = fabric(dice);
    given.config = config_for(dice.pick(kSelectiveLaws));
    given.config.seed = seed;
    choose_nic(dice, given.config);
    choose_switches(dice, given.config);
    const std::uint64_t hosts = given.topology.hosts().size();
    const auto sink = static_cast<NodeId>(dice.below(hosts));
    const bool incast = dice.chance(40);
    const std::int64_t sizes[] = {1, 1500, 40'000, 150'000};
    for (std::uint64_t left = 1 + dice.below(40); left > 0; --left) {
        auto src = static_cast<NodeId>(dice.below(hosts));
        const NodeId dst = incast ? sink : static_cast<NodeId>(dice.below(hosts));
        src = src == dst ? static_cast<NodeId>((src + 1) % hosts) : src;
        given.flows.push_back(
            flow(src, dst, dice.pick(sizes), static_cast<Tick>(dice.below(100)) * kMicrosecond));
    }
    assign_source_ports(given.flows);
    for (std::uint64_t left = dice.below(4); left > 0; --left) {
        const auto link = static_cast<std::uint32_t>(dice.below(given.topology.links().size()));
        const Tick at = static_cast<Tick>(5 + dice.below(200)) * kMicrosecond;
        given.events.push_back({at, link, false});
        given.events.push_back(
            {at + static_cast<Tick>(1 + dice.below(400)) * kMicrosecond, link, true});
    }
    given.stop = 60 * kSecond;
    given.name = "seed " + std::to_string(seed);
    return given;
}

}  // namespace

TEST_CASE("unit.step.fabrics.everything_arrives_in_the_end") {
    std::int64_t drops = 0;
    std::int64_t trimmed = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const Case given = random_fabric(seed);
        INFO(given.name);
        const Outcome outcome = run_windows(given);
        CHECK(std::all_of(outcome.flows.begin(), outcome.flows.end(),
                          [](const FlowResult& result) { return result.finish != kNever; }));
        if (seed % 8 == 0) {
            check_same(outcome, run_oracle(given));
        }
        drops += outcome.counters.drops;
        for (const PortStatistics& port : outcome.ports) {
            trimmed += port.trimmed;
        }
    }
    CHECK(drops > 1000);
    CHECK(trimmed > 1000);
}
