// SPDX-License-Identifier: Apache-2.0
/// Random experiments: every builder, mixed rates and delays, every law and setting of the devices,
/// traffic from single bytes to megabytes with incasts, losses and failures. Reproducible by seed.
#pragma once

#include <cmath>

#include "core/random.h"
#include "tests/support/step_support.h"

namespace sluice::test {

/// Counter-based draws of one seed.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    std::uint32_t below(std::uint32_t bound) { return uniform_below(seed_, 0, count_++, bound); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }
    template <class T, std::size_t N>
    T pick(const T (&choices)[N]) {
        return choices[below(N)];
    }
    /// From 1 to 10^digits, evenly over orders of magnitude.
    std::int64_t size(double digits) {
        return static_cast<std::int64_t>(std::pow(10.0, digits * uniform(seed_, 1, count_++)));
    }

  private:
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
};

/// Every node is anybody's: most links lead from one worker to another.
inline std::vector<std::uint16_t> scattered(std::size_t nodes, std::uint32_t workers,
                                            std::uint64_t seed) {
    Dice dice(seed);
    std::vector<std::uint16_t> owner(nodes);
    for (std::uint16_t& worker : owner) {
        worker = static_cast<std::uint16_t>(dice.below(workers));
    }
    return owner;
}

/// What random cases may contain.
struct RandomOptions {
    bool lossless = false;         ///< PFC with room for it, no spraying, no loss, no failures
    bool ns3 = false;              ///< under ns-3's arithmetic, and with what it has a word for
    std::uint32_t packets = 1500;  ///< about how many data packets in all
};

/// Two hosts on three switches in a triangle, one host with a cable to each of two switches, and
/// one cable between switches without delay.
inline Topology triangle_topology() {
    Topology topology;
    for (int host = 0; host < 5; ++host) {
        topology.add_node(NodeKind::host);
    }
    for (int node = 0; node < 3; ++node) {
        topology.add_node(NodeKind::ethernet);
    }
    const Rate rate = gigabits_per_second(100);
    for (NodeId host = 0; host < 5; ++host) {
        topology.add_link({host, 5 + host % 3, rate, kMicrosecond, 0});
    }
    topology.add_link({4, 7, rate, kMicrosecond, 0});
    topology.add_link({5, 6, rate, 0, 0});
    topology.add_link({6, 7, rate, kMicrosecond, 0});
    topology.add_link({7, 5, rate, kMicrosecond, 0});
    topology.finish();
    return topology;
}

inline Topology random_shape(Dice& dice) {
    switch (dice.below(8)) {
        case 0: return build_star({3 + dice.below(8), {}});
        case 1: return build_dumbbell({2 + dice.below(4), 2 + dice.below(4), {}, {}});
        case 2:
            return build_leaf_spine({2 + dice.below(2),
                                     1 + dice.below(3),
                                     2 + dice.below(3),
                                     1 + dice.below(2),
                                     {},
                                     {}});
        case 3: return build_fat_tree({});
        case 4: {
            RailParams rail;
            rail.gpus = 12;
            rail.gpus_per_server = 4;
            rail.servers_per_segment = 2;
            rail.nvswitches_per_server = dice.below(2);
            return build_rail(rail);
        }
        case 5: return build_torus({{3, 3}, 1, {}, {}});
        case 6: return build_dragonfly({2, 2, 1, 0, {}, {}, {}});
        default: return triangle_topology();
    }
}

/// Rates of 25 to 400 Gb/s and delays of 100 ns to 5 us; in some networks all alike, so that
/// arrivals coincide. `no_delay` leaves a link without delay as it is.
inline Topology random_links(Dice& dice, const Topology& shape, const RandomOptions& options,
                             bool no_delay) {
    const std::int64_t rates[] = {25, 50, 100, 100, 200, 400};
    const bool alike = dice.chance(35);
    const Rate rate = gigabits_per_second(dice.pick(rates));
    const Tick delay = (2 + dice.below(10)) * 500 * kNanosecond;
    const bool lossy = !options.lossless && dice.chance(20);
    return with_links(shape, [&](Link& link) {
        const bool direct = link.delay == 0;
        link.rate = alike ? rate : gigabits_per_second(dice.pick(rates));
        link.delay = alike ? delay : (100 + dice.below(4901)) * kNanosecond;
        if (options.lossless && !alike) {
            link.delay = kMicrosecond + link.delay;  // headroom is 3 x rate x delay
        }
        link.delay = direct && no_delay ? 0 : link.delay;
        link.loss = lossy && dice.chance(50) ? 0.001 * (1 + dice.below(20)) : 0;
    });
}

/// Other policies than the first of each list in a part of the cases, by the seed: it costs no draw,
/// so that all else of a case is the same whatever policies there are.
inline void choose_policies(NetworkConfig& config) {
    const std::uint64_t seed = config.seed;
    if (seed % 4 == 1) {
        config.buffer.admission = Admission::static_threshold;
        config.buffer.static_threshold = Bytes{static_cast<std::int64_t>(500 + seed % 50'000)};
    }
    if (seed / 4 % 4 == 1) {
        config.queues.scheduler = Scheduler::strict_priority;
    }
    if (seed / 16 % 4 == 1) {
        config.marking = Marking::threshold_marking;
    }
}

inline NetworkConfig random_config(Dice& dice, const Topology& topology,
                                   const RandomOptions& options) {
    const Rate nic = topology.rate(topology.first_port(topology.hosts().front()));
    NetworkConfig config = config_for(dice.pick(kLaws), nic);
    config.seed = dice.below(1'000'000);
    config.pfc = options.lossless || dice.chance(60);
    const std::int32_t payloads[] = {1000, 1000, 512, 1460, 4096};
    config.format.payload = dice.pick(payloads);
    config.congestion.payload = config.format.payload;
    config.congestion.window = dice.chance(60);
    config.congestion.variable_window = dice.chance(50);
    config.congestion.pacing = dice.chance(80);
    config.congestion.hpcc.multi_rate = dice.chance(20);
    config.buffer.alpha_shift = static_cast<int>(dice.below(5));
    config.buffer.egress_alpha = dice.chance(20) ? 0 : 0.25 * (1 + dice.below(8));
    config.buffer.reserve = Bytes{dice.chance(20) ? 0 : 4096};
    const bool small = dice.chance(70);
    config.buffer.size = Bytes{(small ? 2'000 + dice.size(5.5) : (1 << 25)) +
                               (config.pfc ? pfc_share(topology, config) : 0)};
    if (dice.chance(50)) {
        const std::int64_t kmin = dice.size(5.0);
        config.ecn.points = {
            EcnPoint{nic, Bytes{kmin}, Bytes{kmin + dice.size(5.0)}, 0.01 * (1 + dice.below(100))}};
    }
    config.ecn.enabled = dice.chance(85);
    config.queues.ack_strict_in_switch = dice.chance(40);
    config.queues.ack_strict_at_host = dice.chance(70);
    config.queues.ack_pause_class = dice.chance(50) ? 3 : 0;
    for (std::int32_t traffic_class = 1; traffic_class < step::kClasses; ++traffic_class) {
        config.queues.weights[traffic_class] = 1 + static_cast<std::int32_t>(dice.below(4));
    }
    const std::int32_t every[] = {1, 1, 1, 2, 5, 16};
    config.nic.ack_every = dice.pick(every);
    config.nic.ack_chunk = dice.chance(70) ? 4 : 0;
    config.nic.back_to_zero = !options.lossless && dice.chance(10);
    config.nic.nack_interval = (20 + dice.below(500)) * kMicrosecond;
    config.nic.retransmit_timeout =
        options.lossless ? 4 * kMillisecond : (150 + dice.below(1000)) * kMicrosecond;
    config.nic.global_base_rtt = dice.chance(60);
    config.load_balance =
        !options.lossless && dice.chance(15) ? LoadBalance::spray : LoadBalance::ecmp;
    const std::uint64_t other =
        mix_bits(config.seed);  // no draw: the cases' other draws stay as they are
    if (!options.lossless && config.load_balance == LoadBalance::ecmp && other % 6 == 0) {
        config.sprayed_priorities = static_cast<std::uint8_t>(other >> 8 & 0xfe);
    }
    choose_policies(config);
    return config;
}

inline std::vector<FlowSpec> random_flows(Dice& dice, const Topology& topology,
                                          std::int32_t payload, const RandomOptions& options) {
    const std::vector<NodeId>& hosts = topology.hosts();
    const auto any = [&] { return hosts[dice.below(static_cast<std::uint32_t>(hosts.size()))]; };
    std::vector<FlowSpec> flows;
    const bool incast = dice.chance(50);
    const bool classes = dice.chance(50);
    const NodeId sink = any();
    const std::uint32_t spread = dice.chance(30) ? 1 : 1 + dice.below(200);
    std::int64_t packets = 0;
    while (packets < options.packets && flows.size() < 60) {
        FlowSpec spec = flow(any(), incast && dice.chance(70) ? sink : any(), dice.size(6.3),
                             dice.below(spread) * kMicrosecond);
        if (spec.src == spec.dst) {
            continue;
        }
        spec.priority = classes ? static_cast<std::uint8_t>(1 + dice.below(7)) : 3;
        packets += spec.size / payload + 1;
        flows.push_back(spec);
    }
    assign_source_ports(flows);
    return flows;
}

/// Makes some flows further messages of earlier ones' connections, a few of them with a source port
/// of their own.
inline void random_connections(Dice dice, std::vector<FlowSpec>& flows) {
    ConnectionId connections = 0;
    for (FlowId f = 1; f < flows.size(); ++f) {
        FlowSpec& before = flows[dice.below(f)];
        if (!dice.chance(50)) {
            continue;
        }
        if (before.connection == kNone) {
            before.connection = connections++;
        }
        flows[f].src = before.src;
        flows[f].dst = before.dst;
        flows[f].connection = before.connection;
        flows[f].own_port = dice.chance(10);
    }
    assign_source_ports(flows);
}

/// The paths that other source ports would have taken.
inline std::vector<FlowPath> random_paths(Dice& dice, const Case& given) {
    std::vector<FlowPath> paths;
    if (dice.chance(80)) {
        return paths;
    }
    const Routing routing(given.topology);
    for (const FlowSpec& spec : given.flows) {
        const auto port = static_cast<std::uint16_t>(dice.below(60000));
        paths.push_back({routing.path({spec.src, spec.dst, port, spec.dport}),
                         routing.path({spec.dst, spec.src, spec.dport, port})});
    }
    return paths;
}

/// Links that fail, and most of the time come back.
inline std::vector<LinkEvent> random_failures(Dice& dice, const Topology& topology) {
    std::vector<LinkEvent> events;
    for (std::uint32_t failures = dice.chance(25) ? 1 + dice.below(3) : 0; failures > 0;
         --failures) {
        const std::uint32_t link = dice.below(static_cast<std::uint32_t>(topology.links().size()));
        const Tick at = (5 + dice.below(150)) * kMicrosecond;
        events.push_back({at, link, false});
        if (dice.chance(80)) {
            events.push_back({at + (10 + dice.below(500)) * kMicrosecond, link, true});
        }
    }
    return events;
}

inline Case random_case(std::uint64_t seed, const RandomOptions& options = {}) {
    Dice dice(seed);
    Case made;
    // In whole nanoseconds a pause frame takes no time at 400 Gb/s: such a link needs a delay.
    made.topology =
        random_links(dice, random_shape(dice), options, !options.lossless && !options.ns3);
    made.config = random_config(dice, made.topology, options);
    made.config.arithmetic = options.ns3 ? Arithmetic::ns3 : Arithmetic::exact;
    made.flows = random_flows(dice, made.topology, made.config.format.payload, options);
    if (!options.ns3 && seed % 2 == 0) {
        random_connections(Dice(~seed), made.flows);
    }
    made.paths = random_paths(dice, made);
    if (!options.lossless) {
        made.events = random_failures(dice, made.topology);
    }
    made.stop = 2 * kMillisecond;
    made.name = "seed " + std::to_string(seed) + ", " + made.topology.name + ", " +
                congestion::law_name(made.config.congestion.law);
    return made;
}

/// That a series of random cases was worth running: every mechanism was at work.
class MechanismTally {
  public:
    void add(const RunCounters& counters) {
        total_.packet_hops += counters.packet_hops;
        total_.drops += counters.drops;
        total_.pfc_pauses += counters.pfc_pauses;
        total_.ecn_marks += counters.ecn_marks;
        total_.retransmitted_bytes += counters.retransmitted_bytes;
    }
    void check() const {
        MESSAGE(total_.packet_hops << " hops, " << total_.drops << " drops, " << total_.pfc_pauses
                                   << " pauses, " << total_.ecn_marks << " marks, "
                                   << total_.retransmitted_bytes << " bytes sent again");
        CHECK(total_.drops > 0);
        CHECK(total_.pfc_pauses > 0);
        CHECK(total_.ecn_marks > 0);
        CHECK(total_.retransmitted_bytes > 0);
    }

  private:
    RunCounters total_;
};

}  // namespace sluice::test
