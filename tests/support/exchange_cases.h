// SPDX-License-Identifier: Apache-2.0
/// All-to-alls of several groups, and of copies of them, that messages from group to group or the next ones of their own join
/// while packets are on their way.
#pragma once

#include "tests/support/fold_support.h"

namespace sluice::test {

struct ExchangeShape {
    std::uint32_t copies = 1;
    std::uint32_t groups = 2;  ///< of a copy
    std::uint32_t hosts = 4;   ///< of a group

    NodeId host(std::uint32_t copy, std::uint32_t group, std::uint32_t at) const {
        return (copy * groups + group) * hosts + at % hosts;
    }
    std::uint32_t all() const { return copies * groups * hosts; }
};

/// Each to each of its group.
inline void add_all_to_all(Case& given, const ExchangeShape& shape, std::uint32_t copy,
                           std::uint32_t group, std::int64_t size, Tick start) {
    for (std::uint32_t i = 0; i < shape.hosts; ++i) {
        for (std::uint32_t k = 1; k < shape.hosts; ++k) {
            given.flows.push_back(
                flow(shape.host(copy, group, i), shape.host(copy, group, i + k), size, start));
        }
    }
}

inline Case exchange(const ExchangeShape& shape, congestion::Law law) {
    Case given;
    given.topology = build_star({shape.all(), {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(law);
    given.stop = 40 * kMillisecond;
    return given;
}

/// What comes between: from one group to the next, or within one.
inline void add_joining(Case& given, const ExchangeShape& shape, std::uint32_t scale, Dice& dice) {
    const Tick start = dice.below(120 * scale) * kMicrosecond;
    const std::int64_t size = 1 + dice.below(300'000 * scale);
    const std::uint32_t turn = dice.below(shape.hosts);
    const bool within = shape.groups == 1 || dice.chance(40);
    const bool connected = within && turn != 0 && dice.chance(60);
    const std::uint32_t from = dice.below(shape.groups);
    const std::uint32_t to = within ? from : (from + 1) % shape.groups;
    const std::uint32_t missing = dice.chance(15) ? dice.below(shape.all()) : shape.all();
    for (std::uint32_t copy = 0; copy < shape.copies; ++copy) {
        for (std::uint32_t i = 0; i < shape.hosts; ++i) {
            const NodeId src = shape.host(copy, from, i);
            const NodeId dst = shape.host(copy, to, i + turn);
            if (src == dst || src == missing) {
                continue;
            }
            given.flows.push_back(flow(src, dst, size, start));
            if (connected) {
                // Behind what is under way from here to there.
                for (FlowSpec& spec : given.flows) {
                    spec.connection = spec.src == src && spec.dst == dst ? src * shape.all() + dst
                                                                         : spec.connection;
                }
            }
        }
    }
}

/// Hosts whose ports have sent more than others, by whole units of INT or not.
inline void add_past(Case& given, const ExchangeShape& shape, Dice& dice) {
    const std::int64_t whole = 4096 * std::int64_t{given.config.format.payload};
    for (std::uint32_t i = 0; i < shape.all(); ++i) {
        if (dice.chance(30)) {
            const bool by_units = dice.chance(90);
            given.flows.push_back(flow(i, (i + 1) % shape.all(), by_units ? whole : whole / 3, 0));
        }
    }
}

/// Of `copies` or one more, `scale` times as large as a few round trips take.
inline Case random_exchange(std::uint64_t seed, std::uint32_t copies, std::uint32_t scale) {
    Dice dice(seed);
    const ExchangeShape shape{copies + dice.below(2), 1 + dice.below(2), 2 + dice.below(4)};
    Case given = exchange(shape, dice.chance(60) ? congestion::Law::hpcc : dice.pick(kLaws));
    given.name = "exchange " + std::to_string(seed);
    const bool past = dice.chance(50);
    if (past) {
        add_past(given, shape, dice);
    }
    const Tick begin = past ? 4 * kMillisecond : Tick{0};
    const std::size_t first = given.flows.size();
    const std::int64_t size = 1 + dice.below(400'000 * scale);
    for (std::uint32_t copy = 0; copy < shape.copies; ++copy) {
        for (std::uint32_t group = 0; group < shape.groups; ++group) {
            add_all_to_all(given, shape, copy, group, size, 0);
        }
    }
    for (std::uint32_t more = dice.below(4); more > 0; --more) {
        add_joining(given, shape, scale, dice);
    }
    for (std::size_t i = first; i < given.flows.size(); ++i) {
        given.flows[i].start += begin;
    }
    assign_source_ports(given.flows);
    for (FlowSpec& spec : given.flows) {
        spec.sport = spec.connection == kNone ? spec.sport : 20'000;
    }
    return given;
}

}  // namespace sluice::test
