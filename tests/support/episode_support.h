// SPDX-License-Identifier: Apache-2.0
/// Networks in which the same flows meet again and again, and runs that remember them.
#pragma once

#include "tests/support/hybrid_support.h"

namespace sluice::test {

inline constexpr double kEverythingIsKnown = 1e9;
inline constexpr double kNothingIsKnown = -1;

/// A star, where flows meet at hosts only, with rounds of flows among some of them: from one to another, from many to
/// one, from all to all. Rounds are `apart`; a few flows come at any time.
inline Case rounds_case(std::uint64_t seed, std::uint32_t rounds, Tick apart,
                        std::uint32_t strangers) {
    Dice dice(seed);
    RandomOptions options;
    Case given = random_case(seed, options);
    given.name = "seed " + std::to_string(seed);
    const std::uint32_t hosts = 4 + dice.below(5);
    given.topology = build_star({hosts, {gigabits_per_second(100), kMicrosecond}});
    given.paths.clear();
    given.events.clear();
    given.flows.clear();
    given.stop = 100 * kMillisecond;
    given.config.load_balance = LoadBalance::ecmp;
    given.config.sprayed_priorities = 0;
    given.config.nic.back_to_zero = false;
    given.config.buffer.size = Bytes{std::int64_t{32} << 20};
    const std::uint32_t kind = dice.below(3);
    const std::int64_t size = 20'000 + dice.below(300'000);
    std::vector<Tick> offset;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        offset.push_back(dice.chance(50) ? 0 : dice.below(1500) * kNanosecond);
    }
    const auto add = [&](NodeId src, NodeId dst, std::int64_t bytes, Tick at) {
        FlowSpec spec;
        spec.src = src;
        spec.dst = dst;
        spec.size = bytes;
        spec.start = at;
        given.flows.push_back(spec);
    };
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const Tick at = round * apart;
        for (NodeId a = 0; a < hosts; ++a) {
            for (NodeId b = 0; b < hosts; ++b) {
                const bool meets = kind == 0 ? b == (a ^ 1U) && a < b : kind == 1 ? b == 0 : true;
                if (a != b && b < hosts && meets) {
                    add(a, b, size, at + offset[a]);
                }
            }
        }
    }
    for (std::uint32_t i = 0; i < strangers; ++i) {
        const NodeId a = dice.below(hosts);
        const NodeId b = (a + 1 + dice.below(hosts - 1)) % hosts;
        add(a, b, 1 + dice.below(400'000),
            static_cast<Tick>(dice.below(1000)) * (rounds * apart / 1000));
    }
    assign_source_ports(given.flows);
    return given;
}

inline HybridOutcome run_with(const Case& given, hybrid::EpisodeMemory* memory) {
    PhaseConfig config;
    config.skip = false;
    return run_hybrid(given, config, Driver::windows, nullptr, false, false, nullptr, nullptr,
                      nullptr, memory);
}

/// What a run of the case leaves to those after it.
inline memo::Content lessons_of(const Case& given) {
    memo::Memo memo;
    hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
    run_with(given, &memory);
    return memo.news();
}

inline constexpr Tick kApart = 2 * kMillisecond;

}  // namespace sluice::test
