// SPDX-License-Identifier: Apache-2.0
/// What the tests of partition clocks share: a driver of many clocks over a case, skips that skip nothing, and an application whose flows start each other.
#pragma once

#include "core/engine/driver.h"
#include "core/world/skip.h"
#include "tests/support/step_random.h"

namespace sluice::test {

/// What happened in the runs of a test, so that it can tell that its subject was at work.
struct ClockCounts {
    step::ClockStatistics clocks;
    std::uint64_t zero_skips = 0;  ///< a partition moved forth and back at one instant

    void add(const step::ClockStatistics& more) {
        clocks.windows_solo += more.windows_solo;
        clocks.windows_joint += more.windows_joint;
        clocks.stretches += more.stretches;
        clocks.bounded_stretches += more.bounded_stretches;
        clocks.bound_stops += more.bound_stops;
        clocks.entries += more.entries;
        clocks.exits += more.exits;
        clocks.searches += more.searches;
        clocks.merges += more.merges;
        clocks.splits += more.splits;
        clocks.domains_merged += more.domains_merged;
        clocks.domains_split += more.domains_split;
        clocks.most_domains = std::max(clocks.most_domains, more.most_domains);
    }
};

/// Moves every partition by a random time and back.
class ZeroSkips {
  public:
    ZeroSkips(step::World& world, const step::FlowPartitions& partitions, std::uint64_t seed,
              ClockCounts& counts)
        : world_(world), partitions_(partitions), dice_(seed), counts_(counts) {}

    void move_all() {
        for (const PartitionId id : partitions_.set().partitions()) {
            const Tick dt = (1 + dice_.below(1'000'000)) * kNanosecond;
            shift(id, dt);
            shift(id, -dt);
            ++counts_.zero_skips;
        }
    }
    /// Any time until the next move.
    Tick pause() { return 1 + dice_.below(20'000'000); }

  private:
    void shift(PartitionId id, Tick dt) {
        const step::Extent extent = partitions_.extent(id);
        for (const PortId p : extent.ports) {
            step::shift_port(world_, p, dt);
        }
        for (const NodeId host : extent.hosts) {
            step::shift_host(world_, host, dt);
        }
        for (const FlowSlot flow : partitions_.set().flows(id)) {
            if (world_.sender_at[flow] != kNone) {
                step::shift_flow(world_, flow, dt);
            }
        }
        for (const std::vector<NodeId>* nodes : {&extent.hosts, &extent.switches}) {
            for (const NodeId node : *nodes) {
                step::refresh_wake(world_, node);
            }
        }
    }

    step::World& world_;
    const step::FlowPartitions& partitions_;
    Dice dice_;
    ClockCounts& counts_;
};

/// Lets every link count from a time of its own, none later than the start. Before anything is sent.
/// INT's clock wraps after 2^24 ns: whole wraps leave its records as they are, so that even a law
/// that compares records of different cables, after a detour, sees no difference.
inline void set_random_bases(Rig& rig, std::uint64_t seed) {
    Dice dice(seed);
    for (PortId p = 0; p < rig.topology.port_count(); ++p) {
        rig.world.link[p].base = -Tick{dice.below(1000)} * (Tick{1} << 24) * kNanosecond;
    }
}

/// Divides nodes whenever it can and leaves them divided.
inline constexpr step::ClockTuning kEagerly = {4, 4, 1'000'000, 8};

/// Partition clocks; `skips`: with random bases, and partitions are moved forth and back now and then.
inline Outcome run_clocks(const Case& given, bool skips, ClockCounts& counts, bool ordered = false,
                          const step::ClockTuning& tuning = kEagerly) {
    Rig rig(given);
    rig.ordered = ordered;
    step::FlowPartitions partitions(rig.store);
    if (skips) {
        set_random_bases(rig, 78);
    }
    engine::Driver driver(rig.store, given.events, {}, engine::Clocks::many, partitions, nullptr);
    driver.tune(tuning);
    ZeroSkips zero_skips(rig.world, partitions, 77, counts);
    for (Tick next = driver.next(); next < given.stop;) {
        next = driver.advance(skips ? std::min(given.stop, next + zero_skips.pause()) : given.stop,
                              rig);
        if (skips) {
            zero_skips.move_all();
        }
    }
    counts.add(driver.statistics());
    return outcome_of(rig.store, end_of(given));
}

/// Flows that start other flows, on receipt or on the last ACK: at once, later, by a timer, or by a
/// timer of another host. It knows everything in advance and keeps nothing, so that any number of
/// runs may share it.
class Relay : public Application {
  public:
    enum class Way : std::uint8_t { at_once, later, own_timer, other_host };
    struct Child {
        FlowId flow;
        bool on_receipt;  ///< starts at the parent's destination, else at its source
        Way way;
        Tick think;
        NodeId source;
    };

    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        start_children(host, flow, now, true, services);
    }
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        start_children(host, flow, now, false, services);
    }
    void on_timer(NodeId, std::uint64_t token, Tick now, HostServices& services) override {
        services.start_flow(static_cast<FlowId>(token), now);
    }

    std::vector<std::vector<Child>> children;  ///< by parent

  private:
    void start_children(NodeId, FlowId flow, Tick now, bool receipt, HostServices& services) {
        for (const Child& child : children[flow]) {
            if (child.on_receipt != receipt) {
                continue;
            }
            switch (child.way) {
                case Way::at_once: services.start_flow(child.flow, now); break;
                case Way::later: services.start_flow(child.flow, now + child.think); break;
                case Way::own_timer:
                    services.set_timer(child.source, now + child.think, child.flow);
                    break;
                case Way::other_host:
                    services.set_timer(child.source, now + services.lookahead() + child.think,
                                       child.flow);
                    break;
            }
        }
    }
};

/// Makes flow `f` a further message of the connection of an earlier flow of the same source.
inline void join_connection(FlowId f, std::vector<FlowSpec>& flows) {
    const auto before = std::find_if(flows.begin(), flows.begin() + f,
                                     [&](const FlowSpec& one) { return one.src == flows[f].src; });
    if (before == flows.begin() + f) {
        return;
    }
    if (before->connection == kNone) {
        before->connection = connection_count(flows);
    }
    flows[f].dst = before->dst;
    flows[f].connection = before->connection;
}

/// Turns most flows of a case into children of earlier ones. `relay` must outlive the case.
inline void relay_flows(Case& given, Dice& dice, Relay& relay) {
    relay.children.assign(given.flows.size(), {});
    for (FlowSpec& spec : given.flows) {
        spec.connection = kNone;
    }
    Dice joins = dice;
    const bool joined = given.config.arithmetic == Arithmetic::exact && joins.chance(50);
    for (FlowId f = 1; f < given.flows.size(); ++f) {
        if (dice.chance(15)) {
            continue;
        }
        const FlowId parent = dice.below(f);
        Relay::Child child{};
        child.flow = f;
        child.on_receipt = dice.chance(60);
        child.way = static_cast<Relay::Way>(dice.below(4));
        child.think = dice.below(dice.chance(50) ? 2'000'000 : 60'000'000);
        FlowSpec& spec = given.flows[f];
        if (child.way != Relay::Way::other_host) {
            spec.src = child.on_receipt ? given.flows[parent].dst : given.flows[parent].src;
            if (spec.src == spec.dst) {
                spec.dst = child.on_receipt ? given.flows[parent].src : given.flows[parent].dst;
            }
        }
        if (joined && joins.chance(60)) {
            join_connection(f, given.flows);
        }
        child.source = spec.src;
        spec.start = kNever;
        relay.children[parent].push_back(child);
    }
    assign_source_ports(given.flows);
    given.paths.clear();
    given.application = &relay;
}

}  // namespace sluice::test
