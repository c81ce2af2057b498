// SPDX-License-Identifier: Apache-2.0
/// What the tests of partition clocks share: a driver of many clocks over a case, a supervisor that
/// skips without skipping anything, and an application whose flows start each other.
#pragma once

#include <map>

#include "core/clocks/driver.h"
#include "core/world/skip.h"
#include "tests/support/step_random.h"

namespace sluice::test {

/// What happened in the runs of a test, so that it can tell that its subject was at work.
struct ClockCounts {
    step::ClockStatistics clocks;
    std::uint64_t zero_skips = 0;  ///< a partition moved forth and back at one instant
    std::uint64_t skip_backs = 0;  ///< moved forth, kept while others ran, and moved back
    std::uint64_t rebasings = 0;   ///< merges of partitions whose cables count from different bases

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

/// Moves partitions at random instants by random times, and back before anything of them happens.
class ZeroSkips : public step::Supervisor {
  public:
    ZeroSkips(step::World& world, const step::FlowPartitions& partitions, std::uint64_t seed,
              ClockCounts& counts)
        : world_(world), partitions_(partitions), dice_(seed), counts_(counts) {}

    Tick next_cut(PartitionId id) const override {
        const auto known = watched_.find(id);
        return known == watched_.end() ? kNever : known->second.cut;
    }
    Tick next_cut() const override {
        Tick at = kNever;
        for (const auto& [id, watched] : watched_) {
            at = std::min(at, watched.cut);
        }
        return at;
    }
    void at_cut(PartitionId id, Tick at) override {
        Watched& watched = watched_.at(id);
        REQUIRE(watched.cut <= at);
        if (watched.moved != 0) {
            move_back(watched);
            watched.cut = at + 1 + dice_.below(20'000'000);
            return;
        }
        const Tick earliest = list(id, watched);
        CHECK(earliest >= at);
        const Tick dt = (1 + dice_.below(1'000'000)) * kNanosecond;
        if (earliest > at && earliest != kNever && dice_.chance(60)) {
            shift(watched, dt);
            watched.cut = at + 1 +
                          dice_.below(static_cast<std::uint32_t>(
                              std::min<Tick>(earliest - at, 1'000'000'000)));
        } else {
            shift(watched, dt);
            shift(watched, -dt);
            ++counts_.zero_skips;
            watched.cut = at + 1 + dice_.below(20'000'000);
        }
    }
    void at_cut(Tick at) override {
        std::vector<PartitionId> due;
        for (const auto& [id, watched] : watched_) {
            if (watched.cut <= at) {
                due.push_back(id);
            }
        }
        for (const PartitionId id : due) {
            at_cut(id, at);
        }
    }
    void before_entry(FlowSlot, const std::vector<PartitionId>& touched, Tick) override {
        std::vector<Tick> bases;
        for (const PartitionId id : touched) {
            Watched& watched = watched_.at(id);
            if (watched.moved != 0) {
                move_back(watched);
            }
            const std::vector<PortId> ports = partitions_.extent(id).ports;  // none: it is cut off
            bases.push_back(ports.empty() ? 0 : world_.link[ports.front()].base);
        }
        for (std::size_t i = 1; i < bases.size(); ++i) {
            counts_.rebasings += bases[i] != bases[0] ? 1 : 0;
        }
    }
    void after_entry(FlowSlot, const PartitionSet::Entry& entry, Tick now) override {
        for (const PartitionId id : entry.absorbed) {
            CHECK(watched_.erase(id) == 1);
        }
        watch(entry.partition, now);
    }
    void after_close(FlowSlot, PartitionId, Tick) override {}
    void after_exit(FlowSlot, PartitionId from, const PartitionSet::Exit& exit, Tick now) override {
        Watched& watched = watched_.at(from);
        if (watched.moved != 0) {
            move_back(watched);
        }
        if (exit.partition == kNone) {
            watched_.erase(from);
        }
        for (const PartitionId id : exit.split_off) {
            watch(id, now);
        }
    }
    void before_link_event(Tick) override {
        for (auto& [id, watched] : watched_) {
            if (watched.moved != 0) {
                move_back(watched);
            }
        }
    }
    void call_set(NodeId host, Tick at) override {
        for (auto& [id, watched] : watched_) {
            if (watched.moved != 0 && std::find(watched.hosts.begin(), watched.hosts.end(), host) !=
                                          watched.hosts.end()) {
                watched.cut = std::min(watched.cut, at);
            }
        }
    }

  private:
    struct Watched {
        Tick cut = kNever;
        Tick moved = 0;
        std::vector<FlowId> flows;  ///< what was moved
        std::vector<PortId> ports;
        std::vector<NodeId> hosts;
        std::vector<NodeId> nodes;
    };

    void watch(PartitionId id, Tick now) {
        Watched& watched = watched_[id];
        if (watched.moved == 0) {
            watched.cut = now + world_.lookahead + dice_.below(5'000'000);
        }
    }

    /// Lists what a partition consists of; returns its earliest instant.
    Tick list(PartitionId id, Watched& watched) {
        const step::Extent extent = partitions_.extent(id);
        watched.ports = extent.ports;
        watched.hosts = extent.hosts;
        watched.nodes = extent.hosts;
        watched.nodes.insert(watched.nodes.end(), extent.switches.begin(), extent.switches.end());
        watched.flows.clear();
        for (const FlowId flow : partitions_.set().flows(id)) {
            if (world_.sender_at[flow] != kNone) {
                watched.flows.push_back(flow);
            }
        }
        Tick earliest = kNever;
        for (const PortId p : watched.ports) {
            earliest = std::min({earliest, world_.link[p].arrival, world_.link[p].decision});
        }
        for (const NodeId host : watched.hosts) {
            const auto& timers = world_.host[host].timers;
            earliest = std::min(earliest, timers.count > 0 ? timers.data[0].time : kNever);
        }
        return earliest;
    }

    void shift(Watched& watched, Tick dt) {
        for (const PortId p : watched.ports) {
            step::shift_port(world_, p, dt);
        }
        for (const NodeId host : watched.hosts) {
            step::shift_host(world_, host, dt);
        }
        for (const FlowId flow : watched.flows) {
            step::shift_flow(world_, flow, dt);
        }
        for (const NodeId node : watched.nodes) {
            step::refresh_wake(world_, node);
        }
        watched.moved += dt;
    }

    void move_back(Watched& watched) {
        shift(watched, -watched.moved);
        ++counts_.skip_backs;
    }

    step::World& world_;
    const step::FlowPartitions& partitions_;
    Dice dice_;
    ClockCounts& counts_;
    std::map<PartitionId, Watched> watched_;
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

/// Partition clocks; `skips`: under a supervisor that skips nothing, with random bases.
inline Outcome run_clocks(const Case& given, bool skips, ClockCounts& counts, bool ordered = false,
                          const step::ClockTuning& tuning = kEagerly) {
    Rig rig(given);
    rig.ordered = ordered;
    step::FlowPartitions partitions(rig.store);
    ZeroSkips supervisor(rig.world, partitions, 77, counts);
    if (skips) {
        set_random_bases(rig, 78);
    }
    step::Driver driver(rig.store, given.events, {}, step::Clocks::many, partitions,
                        skips ? &supervisor : nullptr);
    driver.tune(tuning);
    driver.advance(given.stop, rig);
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
