// SPDX-License-Identifier: Apache-2.0
/// What the tests of folding share: networks whose parts do the same, but for what a dice changes, and runs
/// with and without folding.
#pragma once

#include <memory>

#include "core/clocks/worker_pool.h"
#include "core/fold/folds.h"
#include "tests/support/clock_support.h"

namespace sluice::test {

/// Everything that folding must leave as it is. (What was executed, and the hops' checksum, it must not.)
inline void check_same_but_executed(const Outcome& a, const Outcome& b) {
    CHECK(a.counters.packet_hops == b.counters.packet_hops);
    CHECK(a.counters.drops == b.counters.drops);
    CHECK(a.counters.ecn_marks == b.counters.ecn_marks);
    CHECK(a.counters.retransmitted_bytes == b.counters.retransmitted_bytes);
    CHECK(first_difference(a.flows, b.flows) == -1);
    CHECK(first_difference(a.ports, b.ports) == -1);
}

struct Folded {
    Outcome outcome;
    FoldCounters fold;
    Tick last_arrival = 0;
    std::uint64_t shared_windows = 0;  ///< that several threads stepped
};

/// `threads`: they step the windows in which nothing is folded.
inline Folded run_folded(const Case& given, std::uint32_t threads = 1) {
    Rig rig(given);
    rig.world.digest_hops = false;
    step::Folds folds(rig.store);
    engine::Driver driver(rig.store, given.events, {});
    driver.fold(folds);
    std::unique_ptr<step::WorkerPool> pool;
    if (threads > 1) {
        pool = std::make_unique<step::WorkerPool>(rig.store, step::Threads{threads, 0},
                                                  step::cell_stepper);
        driver.divide_windows(*pool);
    }
    driver.advance(given.stop, rig);
    driver.unfold();
    return {outcome_of(rig.store, end_of(given)), folds.counters(), rig.store.last_arrival(),
            pool != nullptr ? pool->windows() : 0};
}

/// Runs `given` both ways and compares.
inline Folded check_folding(const Case& given, std::uint32_t threads = 1) {
    INFO(given.name);
    const Outcome expected = run_windows(given);
    const Folded made = run_folded(given, threads);
    check_same_but_executed(expected, made.outcome);
    return made;
}

struct CopiesOptions {
    std::uint32_t copies = 4;
    std::uint32_t hosts = 4;      ///< of a copy
    std::uint32_t flows = 10;     ///< of a copy
    std::uint32_t changed = 3;    ///< percent of a copy's flows that differ from the first copy's
    std::uint32_t strangers = 0;  ///< flows from one copy to another
    bool failures = false;        ///< links fail and are repaired
    bool sprayed = false;         ///< a copy is a rail, whose switches several spines join
    bool servers = false;         ///< a copy is a server's GPUs, which reach others by another port
    double size = 5.5;            ///< most, by the power of ten, bytes
    bool by_copy = true;          ///< ids: one copy after the other, else flow by flow
    bool turned = false;          ///< a copy's hosts all do the same in their turn
    std::int64_t buffer = 0;      ///< of a switch, bytes; 0: the default
    congestion::Law law = congestion::Law::hpcc;
};

/// Copies of one part on the same switches. Most flows start each other.
struct Copies {
    Copies(std::uint64_t seed, const CopiesOptions& options);
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    Case given;
    Relay relay;

  private:
    /// Of copies, or of their turns.
    std::uint32_t likes() const { return options.copies * (options.turned ? options.hosts : 1); }
    FlowId id(std::uint32_t like, FlowId flow) const {
        return options.by_copy ? FlowId{like} * options.flows + flow : flow * likes() + like;
    }
    NodeId host(std::uint32_t like, NodeId of_first) const {
        const std::uint32_t copy = options.turned ? like / options.hosts : like;
        const std::uint32_t turn = options.turned ? like % options.hosts : 0;
        const std::uint32_t at = (of_first + turn) % options.hosts;
        return given.topology
            .hosts()[spread ? at * options.copies + copy : copy * options.hosts + at];
    }
    void make_network(Dice& dice);
    void make_flows(Dice& dice);
    static Relay::Child random_child(Dice& dice);
    void make_strangers(Dice& dice);
    void change(Dice& dice, FlowSpec& spec, Relay::Child* child, std::uint32_t copy) const;

    CopiesOptions options;
    bool spread = false;  ///< a copy's hosts are at leaves of their own
};

inline Copies::Copies(std::uint64_t seed, const CopiesOptions& wanted) : options(wanted) {
    Dice dice(seed);
    given.name = "copies " + std::to_string(seed);
    make_network(dice);
    make_flows(dice);
    make_strangers(dice);
    assign_source_ports(given.flows);
    if (options.failures) {
        given.events = random_failures(dice, given.topology);
        given.config.nic.retransmit_timeout = 300 * kMicrosecond;
    }
    given.application = &relay;
    given.stop = 40 * kMillisecond;
}

inline void Copies::make_network(Dice& dice) {
    const Rate rate = gigabits_per_second(dice.chance(50) ? 100 : 25);
    const Tick delay = dice.chance(50) ? kMicrosecond : 300 * kNanosecond;
    if (options.servers) {
        RailParams shape;
        shape.gpus = options.copies * options.hosts;
        shape.gpus_per_server = options.hosts;
        shape.servers_per_segment = options.copies;
        shape.nvswitches_per_server = 1;
        shape.host_cable = {rate, delay};
        shape.fabric_cable = {rate, delay};
        shape.nvlink = {gigabits_per_second(dice.chance(50) ? 400 : 100), delay};
        given.topology = build_rail(shape);
    } else if (options.sprayed) {
        RailParams shape;
        shape.gpus = options.copies * options.hosts;
        shape.gpus_per_server = options.copies;
        shape.servers_per_segment = 1;
        shape.spines = 3;
        shape.host_cable = {rate, delay};
        shape.fabric_cable = {rate, delay};
        given.topology = build_rail(shape);
        spread = true;
    } else if (dice.chance(50)) {
        given.topology = build_star({options.copies * options.hosts, {rate, delay}});
    } else {
        LeafSpineParams shape;
        spread = options.turned && dice.chance(70);
        shape.leaves = spread ? options.hosts : options.copies;
        shape.spines = spread && dice.chance(60) ? 1 : 2;
        shape.hosts_per_leaf = spread ? options.copies : options.hosts;
        shape.host_cable = {rate, delay};
        shape.fabric_cable = {rate, delay};
        given.topology = build_leaf_spine(shape);
    }
    given.config = config_for(options.law, rate);
    if (options.sprayed || dice.chance(10)) {
        given.config.load_balance = LoadBalance::spray;
    }
    given.config.pfc = dice.chance(70);
    if (options.buffer > 0) {
        given.config.buffer.size = Bytes{options.buffer};
    }
    given.config.nic.global_base_rtt = dice.chance(50);
    given.config.nic.ack_every = dice.chance(70) ? 1 : 4;
    given.config.queues.ack_strict_in_switch = dice.chance(40);
    given.config.congestion.hpcc.multi_rate = dice.chance(20);
    given.config.ecn.enabled = options.law == congestion::Law::dctcp;
    given.config.marking = Marking::threshold_marking;
    if (dice.chance(40)) {  // at random, sooner or later
        const std::int64_t kmin = dice.chance(50) ? 20'000 : 100'000;
        given.config.marking = Marking::red_marking;
        given.config.ecn.enabled = true;
        given.config.ecn.points = {EcnPoint{rate, Bytes{kmin}, Bytes{kmin + 100'000}, 0.5}};
    }
}

/// Makes a copy's flow another one than the first copy's.
inline void Copies::change(Dice& dice, FlowSpec& spec, Relay::Child* child,
                           std::uint32_t copy) const {
    switch (options.servers ? dice.below(5) : dice.below(4)) {
        case 4: {
            const NodeId other = host((copy + 1) % likes(), dice.below(options.hosts));
            spec.dst = other == spec.src ? spec.dst : other;
            break;
        }
        case 0: spec.size += 1 + dice.below(3000); break;
        case 1: spec.priority = spec.priority == 3 ? 4 : 3; break;
        case 2: (child != nullptr ? child->think : spec.start) += dice.below(2'000'000); break;
        default: spec.size = 1; break;
    }
}

inline Relay::Child Copies::random_child(Dice& dice) {
    Relay::Child child{};
    child.on_receipt = dice.chance(60);
    child.way = static_cast<Relay::Way>(dice.below(4));
    child.think = dice.below(dice.chance(50) ? 2'000'000 : 60'000'000);
    return child;
}

inline void Copies::make_flows(Dice& dice) {
    const FlowId total = FlowId{likes()} * options.flows;
    given.flows.resize(total);
    relay.children.assign(total + options.strangers, {});
    ConnectionId connections = 0;
    for (FlowId f = 0; f < options.flows; ++f) {
        const NodeId src = dice.below(options.hosts);
        const NodeId dst = (src + 1 + dice.below(options.hosts - 1)) % options.hosts;
        const std::int64_t size = dice.size(options.size);
        const Tick start = dice.below(dice.chance(50) ? 1 : 100) * kMicrosecond;
        const FlowId parent =
            f > 0 && dice.chance(75) ? dice.below(static_cast<std::uint32_t>(f)) : f;
        const Relay::Child child = random_child(dice);
        const bool connected = dice.chance(40);
        const std::uint32_t partner = dice.below(options.flows);
        for (std::uint32_t copy = 0; copy < likes(); ++copy) {
            FlowSpec spec = flow(host(copy, src), host(copy, dst), size, start);
            Relay::Child own = child;
            const bool differs = copy > 0 && dice.chance(options.changed);
            if (parent != f) {
                const FlowSpec& before = given.flows[id(copy, parent)];
                if (own.way != Relay::Way::other_host) {
                    spec.src = own.on_receipt ? before.dst : before.src;
                    spec.dst = spec.src == spec.dst ? (own.on_receipt ? before.src : before.dst)
                                                    : spec.dst;
                }
                spec.start = kNever;
            }
            if (differs) {
                change(dice, spec, parent != f ? &own : nullptr, copy);
            }
            if (connected && partner < f) {
                FlowSpec& other = given.flows[id(copy, partner)];
                if (other.src == spec.src) {
                    other.connection = other.connection == kNone ? connections++ : other.connection;
                    spec.connection = other.connection;
                    spec.dst = other.dst;
                }
            }
            own.flow = id(copy, f);
            own.source = spec.src;
            if (parent != f && !(differs && dice.chance(20))) {
                relay.children[id(copy, parent)].push_back(own);
            }
            given.flows[id(copy, f)] = spec;
        }
    }
}

inline void Copies::make_strangers(Dice& dice) {
    for (std::uint32_t i = 0; i < options.strangers; ++i) {
        const std::vector<NodeId>& hosts = given.topology.hosts();
        const auto any = [&] { return dice.below(static_cast<std::uint32_t>(hosts.size())); };
        const std::uint32_t from = any();
        const std::uint32_t to =
            (from + 1 + dice.below(static_cast<std::uint32_t>(hosts.size()) - 1)) %
            static_cast<std::uint32_t>(hosts.size());
        given.flows.push_back(
            flow(hosts[from], hosts[to], dice.size(5.0), dice.below(400) * kMicrosecond));
    }
}

}  // namespace sluice::test
