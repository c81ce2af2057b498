// SPDX-License-Identifier: Apache-2.0
/// What the tests of the packet engine share: one experiment as a value, the drivers that run it,
/// and what they are compared by. Core only, no SystemC.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/clocks/cell_step.h"
#include "core/clocks/oracle.h"
#include "core/congestion/congestion.h"
#include "core/engine/driver.h"
#include "core/ns3/driver.h"
#include "core/topology/builders.h"
#include "core/world/world_store.h"

namespace sluice::test {

/// One experiment of the packet engine.
struct Case {
    std::string name;
    Topology topology;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;  ///< empty, or one per flow
    std::vector<LinkEvent> events;
    Tick stop = kNever;
    Application* application = nullptr;  ///< keeps nothing between runs
};

/// The scenario's policies, every decision of a switch in the order of time.
struct OrderedPolicies : step::ScenarioPolicies {
    static constexpr bool kQuietWindows = false;
};

/// A case's columns and the working memory of a driver.
struct Rig {
    /// `pinned`: every flow of the list has the slot of its number.
    explicit Rig(const Case& given, bool pinned = false)
        : topology(given.topology),
          routing(given.topology, next_hop_order(given.config.arithmetic)),
          store(given.topology, routing, given.config, given.flows, given.paths, given.application),
          world(store.world()),
          step_cell(world) {
        world.digest_hops = true;
        if (pinned) {
            store.pin_list();
        }
        store.begin();
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    /// What a driver calls for a cell of a window.
    void operator()(const step::Cell& cell, Tick begin, Tick end) {
        if (ordered) {
            step_cell.step_with<OrderedPolicies>(cell, begin, end);
        } else {
            step_cell(cell, begin, end);
        }
    }

    const Topology& topology;
    Routing routing;
    step::WorldStore store;
    step::World& world;
    step::CellStep step_cell;
    bool ordered = false;  ///< never the short cut of quiet windows
};

/// Everything that two drivers of one case must agree on.
struct Outcome {
    std::uint64_t checksum = 0;  ///< over all hops: time, port, flow, sequence, kind
    RunCounters counters;
    std::vector<FlowResult> flows;
    std::vector<PortStatistics> ports;
};

inline Outcome outcome_of(const step::WorldStore& store, Tick at) {
    return Outcome{store.world().checksum, store.counters(), store.results(),
                   store.port_statistics(at)};
}

/// Statistics of runs that are compared are taken at one instant.
inline Tick end_of(const Case& given) { return given.stop == kNever ? 0 : given.stop; }

/// Packets with a quiet-window short cut where it is allowed, or never (`ordered`).
inline Outcome run_windows(const Case& given, bool ordered = false) {
    Rig rig(given);
    rig.ordered = ordered;
    engine::Driver driver(rig.store, given.events, {});
    driver.advance(given.stop, rig);
    Outcome outcome = outcome_of(rig.store, end_of(given));
    outcome.counters.windows = driver.windows();
    return outcome;
}

/// Events in ns-3's order.
inline Outcome run_ns3(const Case& given) {
    Rig rig(given);
    ns3::Driver driver(rig.store, given.events, {});
    driver.advance(given.stop);
    return outcome_of(rig.store, end_of(given));
}

/// A window loop of the test's own that visits nodes from the last to the first.
inline Outcome run_reversed(const Case& given) {
    Rig rig(given);
    step::World& world = rig.world;
    std::vector<LinkEvent> events = given.events;
    std::stable_sort(events.begin(), events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
    std::size_t next_event = 0;
    for (;;) {
        const Tick begin = step::next_instant(world);
        const Tick cut = next_event < events.size() ? events[next_event].at : kNever;
        if (std::min(begin, cut) >= given.stop) {
            break;
        }
        if (cut <= begin) {
            rig.store.set_link(events[next_event].link, events[next_event].up, cut);
            ++next_event;
            continue;
        }
        const Tick end = std::min({begin + world.lookahead, cut, given.stop});
        for (NodeId node = world.node_count; node-- > 0;) {
            if (world.wake[node] < end) {
                rig(step::whole_node(node), begin, end);
            }
        }
        std::fill_n(world.block_wake, (world.node_count + 63) / 64, kNever);
        for (NodeId node = 0; node < world.node_count; ++node) {
            world.block_wake[node / 64] = std::min(world.block_wake[node / 64], world.wake[node]);
        }
    }
    return outcome_of(rig.store, end_of(given));
}

/// One event at a time in one global order.
inline Outcome run_oracle(const Case& given) {
    Rig rig(given);
    std::vector<LinkEvent> events = given.events;
    std::stable_sort(events.begin(), events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
    step::Oracle oracle(rig.store);
    for (const LinkEvent& event : events) {
        if (event.at < given.stop) {
            oracle.run(event.at);
            rig.store.set_link(event.link, event.up, event.at);
            oracle.refresh_all();
        }
    }
    oracle.run(given.stop);
    return outcome_of(rig.store, end_of(given));
}

inline bool same(const FlowResult& a, const FlowResult& b) {
    return a.start == b.start && a.received == b.received && a.finish == b.finish &&
           a.retransmitted == b.retransmitted;
}

inline bool same(const PortStatistics& a, const PortStatistics& b) {
    return a.tx_bytes == b.tx_bytes && a.tx_packets == b.tx_packets &&
           a.max_queue_bytes == b.max_queue_bytes && a.ecn_marks == b.ecn_marks &&
           a.drops == b.drops && a.pauses_sent == b.pauses_sent && a.paused_ticks == b.paused_ticks;
}

/// Index of the first element in which two equally long lists differ; -1 if there is none.
template <class T>
int first_difference(const std::vector<T>& a, const std::vector<T>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!same(a[i], b[i])) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

inline void check_same(const Outcome& a, const Outcome& b) {
    CHECK(a.checksum == b.checksum);
    CHECK(a.counters.packet_hops == b.counters.packet_hops);
    CHECK(a.counters.drops == b.counters.drops);
    CHECK(first_difference(a.flows, b.flows) == -1);
    CHECK(first_difference(a.ports, b.ports) == -1);
}

/// A copy of `topology` with each cable changed by `change(link)`.
template <class Change>
Topology with_links(const Topology& topology, Change&& change) {
    Topology copy;
    copy.name = topology.name;
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        copy.add_node(topology.kind(n));
    }
    for (Link link : topology.links()) {
        change(link);
        copy.add_link(link);
    }
    copy.finish();
    return copy;
}

/// Device settings that suit a law: its defaults, packet sizes, and ECN as in the reference.
inline NetworkConfig config_for(congestion::Law law, Rate line_rate = gigabits_per_second(100)) {
    NetworkConfig config;
    config.congestion = congestion::default_parameters(law, line_rate.bits_per_second);
    config.format.extra_header = congestion::traits(law).extra_header;
    config.format.ack = congestion::traits(law).ack();
    const bool dctcp = law == congestion::Law::dctcp;
    config.ecn.points = {EcnPoint{line_rate, Bytes{dctcp ? 30'000 : 100'000},
                                  Bytes{dctcp ? 30'000 : 400'000}, dctcp ? 1.0 : 0.2}};
    return config;
}

/// What all switches' ports set aside for PFC, at the switch that needs most.
inline std::int64_t pfc_share(const Topology& topology, const NetworkConfig& config) {
    std::int64_t most = 0;
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        std::int64_t share = 0;
        for (PortId p = topology.first_port(n); p < topology.first_port(n + 1); ++p) {
            share += step::pfc_headroom(config, topology.rate(p), topology.delay(p)) +
                     config.buffer.reserve.count;
        }
        most = std::max(most, share);
    }
    return most;
}

inline FlowSpec flow(NodeId src, NodeId dst, std::int64_t size, Tick start,
                     std::uint8_t priority = 3) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = dst;
    spec.size = size;
    spec.start = start;
    spec.priority = priority;
    return spec;
}

/// Opens each flow at its start time, not before.
class OpensLater : public Application {
  public:
    explicit OpensLater(std::vector<FlowSpec> flows) : flows_(std::move(flows)) {}
    void on_begin(NodeId host, HostServices& services) override {
        for (std::size_t i = 0; i < flows_.size(); ++i) {
            if (flows_[i].src == host) services.set_timer(host, flows_[i].start, i);
        }
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t flow, Tick now, HostServices& services) override {
        services.open_flow(flows_[flow], now);
    }

  private:
    std::vector<FlowSpec> flows_;
};

inline constexpr congestion::Law kLaws[] = {congestion::Law::none, congestion::Law::hpcc,
                                            congestion::Law::dcqcn, congestion::Law::timely,
                                            congestion::Law::dctcp};
/// With those that HPCC ns-3 has not.
inline constexpr congestion::Law kAllLaws[] = {congestion::Law::none,  congestion::Law::hpcc,
                                               congestion::Law::dcqcn, congestion::Law::timely,
                                               congestion::Law::dctcp, congestion::Law::swift};
/// With those that need selective repeat, too.
inline constexpr congestion::Law kSelectiveLaws[] = {
    congestion::Law::none,  congestion::Law::hpcc,  congestion::Law::dcqcn, congestion::Law::timely,
    congestion::Law::dctcp, congestion::Law::swift, congestion::Law::nscc,  congestion::Law::rccc};

}  // namespace sluice::test
