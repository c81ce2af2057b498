// SPDX-License-Identifier: Apache-2.0
/// Cases of which phases make much: the same groups again and again.
#pragma once

#include <string>

#include "tests/support/hybrid_support.h"

namespace sluice::test {

/// Copies of a ring of four hosts that sends the same again and again, in step or not, and a stranger.
struct Rings {
    explicit Rings(std::uint64_t seed, congestion::Law law) {
        Dice dice(seed);
        constexpr std::int64_t kCopies = 3;
        constexpr std::int64_t kHosts = 4;
        const Rate rate{100'000'000'000};
        given.name = "rings " + std::to_string(seed);
        given.topology = build_star({kCopies * kHosts, {rate, 200 * kNanosecond}});
        given.config = config_for(law, rate);
        const auto hosts = given.topology.hosts();
        const bool in_step = dice.chance(50);
        const std::int64_t size = 6'000'000 + 1000 * dice.below(2000);
        for (std::int64_t round = 0; round < 4; ++round) {
            for (std::int64_t copy = 0; copy < kCopies; ++copy) {
                const Tick late = in_step ? 0 : dice.below(40) * kMicrosecond;
                for (std::int64_t host = 0; host < kHosts; ++host) {
                    given.flows.push_back(flow(hosts[copy * kHosts + host],
                                               hosts[copy * kHosts + (host + 1) % kHosts], size,
                                               round * kMillisecond + late));
                }
            }
        }
        if (dice.chance(50)) {
            given.flows.push_back(flow(hosts[0], hosts[kHosts + dice.below(kHosts)], 20'000,
                                       static_cast<Tick>(2'000 + dice.below(400)) * kMicrosecond));
        }
    }
    Case given;
};

/// Copies of an all-to-all among four hosts, in step or not, again and again: flows share ports at both ends.
struct Exchanges {
    explicit Exchanges(std::uint64_t seed, congestion::Law law, std::int64_t rounds = 7) {
        Dice dice(seed);
        constexpr std::int64_t kCopies = 3;
        constexpr std::int64_t kHosts = 4;
        const Rate rate{100'000'000'000};
        given.name = "exchanges " + std::to_string(seed);
        given.topology = build_star({kCopies * kHosts, {rate, 500 * kNanosecond}});
        given.config = config_for(law, rate);
        const auto hosts = given.topology.hosts();
        const bool in_step = dice.chance(50);
        const std::int64_t size = 6'000'000 + 1000 * dice.below(1000);
        for (std::int64_t round = 0; round < rounds; ++round) {
            for (std::int64_t copy = 0; copy < kCopies; ++copy) {
                const Tick late = in_step ? 0 : dice.below(40) * kMicrosecond;
                for (std::int64_t pair = 0; pair < kHosts * (kHosts - 1); ++pair) {
                    const std::int64_t from = pair / (kHosts - 1);
                    const std::int64_t to = (from + 1 + pair % (kHosts - 1)) % kHosts;
                    given.flows.push_back(flow(hosts[copy * kHosts + from],
                                               hosts[copy * kHosts + to], size,
                                               2 * round * kMillisecond + late));
                }
            }
        }
        if (dice.chance(50)) {
            given.flows.push_back(flow(hosts[0], hosts[kHosts + dice.below(kHosts)], 20'000,
                                       static_cast<Tick>(8'000 + dice.below(800)) * kMicrosecond));
        }
    }
    Case given;
};

}  // namespace sluice::test
