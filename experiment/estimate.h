// SPDX-License-Identifier: Apache-2.0
/// What can be known of an experiment's traffic before it runs: that every flow has a way, how long
/// each would take alone, and how many packet-hops there are to simulate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "experiment/experiment.h"

namespace sluice {

/// Packet-hops that hybrid mode executes of a flow before it skips the rest, where rates settle. Measured as
/// packet_hops / flows of `sluice run --mode hybrid` at bdf80f28: 4,600 (examples/gpt13b-128gpu), 25,000
/// (link-failure), 44,000 (zero-bubble-16gpu); between them.
inline constexpr double kSettlingHops = 16e3;

/// Base round trips of a message that is long: what is lost as it begins, one or two of them, is 1% of it.
inline constexpr Tick kLongMessage = 200;

struct TrafficEstimate {
    /// By flow: creation to last ACK on an idle network at line rate, paths and packet format as
    /// configured; no window, no congestion control.
    std::vector<Tick> ideal;
    /// By flow: the highest of the classes (LinkClasses) of the links of its path.
    std::vector<std::uint8_t> link_class;
    std::int64_t bytes = 0;     ///< payload of all flows
    double packet_hops = 0;     ///< transmissions of data and ACK packets, nothing lost
    double settling_hops = 0;   ///< the same, at most kSettlingHops of each flow
    double long_hops = 0;       ///< packet_hops of messages of kLongMessage or more
    double colliding_hops = 0;  ///< packet_hops of messages that cross a port of `shared_inside`
    std::int64_t longest_path = 0;  ///< links
    Tick longest_round_trip = 0;    ///< of a listed flow: a byte there, its ACK back, idle
    std::size_t shared_ports = 0;   ///< of switches: data of several hosts leaves by them
    std::size_t shared_inside = 0;  ///< of these, those that lead to another switch
    std::size_t routing_bytes = 0;  ///< of the routing tables
};

/// The ideal times of flows that no list has, as above.
class IdealTimes {
  public:
    explicit IdealTimes(const Experiment& experiment) : experiment_(experiment) {}
    Tick of(const FlowSpec& flow);

  private:
    const Experiment& experiment_;
    std::optional<Routing> routing_;  ///< from the first flow on: many runs have none
};

/// Routing and classes of links of the network that was asked for last, if it is small: experiments of a batch
/// that follow each other have the same one, mostly. For one thread.
class KnownRouting {
  public:
    KnownRouting();
    ~KnownRouting();

    struct Kept;
    /// Valid until it is called again.
    const Kept& of(const Topology& topology, NextHopOrder order);

  private:
    std::unique_ptr<const Kept> kept_;
};

/// ConfigError if a flow cannot be carried (core/routing/flow_check.h). `known`: null, or what earlier ones have left.
TrafficEstimate estimate_traffic(const Experiment& experiment, KnownRouting* known = nullptr);

/// Creation to last ACK of `size` payload bytes sent back to back over `forward` (egress ports,
/// source first) and acknowledged over `reverse`, both idle. In a row of stores-and-forwards the
/// slowest one is never idle between the first packet and the last.
Tick idle_completion_time(const Experiment& experiment, std::int64_t size,
                          const std::vector<PortId>& forward, const std::vector<PortId>& reverse);

}  // namespace sluice
