// SPDX-License-Identifier: Apache-2.0
/// Flows: what the user asked for, and what happened to each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/flow/ecmp_hash.h"
#include "core/hd.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice {

/// What lives as long as its job: a queue pair from one host to another, by number.
using ConnectionId = std::uint32_t;

/// Of every message, payload bytes: sums of many stay below 2^63.
inline constexpr Bytes kLargestMessage{std::int64_t{1} << 50};

/// One message from one host to another. The id of a flow of a list is its index there.
/// Messages of one connection leave in the order in which they were started, each when the last byte
/// of the one before has left, from one source port (docs/models/nic.md).
struct FlowSpec {
    NodeId src = 0;
    NodeId dst = 0;
    std::int64_t size = 0;  ///< payload bytes, >= 1
    Tick start = kNever;    ///< kNever: started by the Application
    std::uint16_t sport = 10000;
    std::uint16_t dport = 100;
    std::uint8_t priority = 3;  ///< traffic class 1..7
    bool own_port = false;      ///< an exception: not its connection's source port
    bool overlaps = false;      ///< an exception: waits for no other message
    /// Its packets leave `src`, and their ACKs `dst`, by the one of this number of the ports that lead there, counted around;
    /// kAnyPort: by ECMP.
    std::uint8_t nic_port = kAnyPort;
    ConnectionId connection = kNone;  ///< all from `src` to `dst`; kNone: of this message only
    FlowId id = kNoFlow;              ///< of one that is opened; kNoFlow: the engine numbers it

    /// The connection whose order it keeps to, kNone if it keeps to none.
    SLUICE_HD ConnectionId queue() const { return overlaps ? kNone : connection; }
};

/// What ECMP sees of the flow's data, and of its ACKs.
SLUICE_HD inline FlowKey data_key(const FlowSpec& spec) {
    return {spec.src, spec.dst, spec.sport, spec.dport, spec.nic_port};
}
SLUICE_HD inline FlowKey ack_key(const FlowSpec& spec) {
    return {spec.dst, spec.src, spec.dport, spec.sport, spec.nic_port};
}

/// Connections are 0 to this - 1.
ConnectionId connection_count(const std::vector<FlowSpec>& flows);

/// What happened to a flow. Times are simulated time; kNever if it did not come to that.
struct FlowResult {
    Tick start = kNever;             ///< its queue pair came to it
    Tick received = kNever;          ///< last in-order byte at the receiver
    Tick finish = kNever;            ///< last ACK at the sender; FCT = finish - start
    std::int64_t retransmitted = 0;  ///< payload bytes sent more than once
    std::int64_t resent_late = 0;    ///< of them, after a time-out
};

/// A flow that is over, or what has come of it so far.
struct FlowRecord {
    FlowId id = kNoFlow;
    FlowSpec spec;
    FlowResult result;
};

/// The id of the `count`-th flow (from 0) that `host` opens without a number of its own: unlike that of
/// any list, and the same however an engine cuts time.
inline FlowId opened_flow_id(NodeId host, std::uint32_t count) {
    return (FlowId{host} + 1) << 32 | count;
}

/// Egress ports of a flow's data packets (and of its ACKs), source port first. Empty: by routing.
struct FlowPath {
    std::vector<PortId> forward;
    std::vector<PortId> reverse;
};

/// Gives each connection, and each flow that has none or a port of its own, HPCC ns-3's source port:
/// 10000, 10001, ... per (src, dst) pair in list order.
void assign_source_ports(std::vector<FlowSpec>& flows);

}  // namespace sluice
