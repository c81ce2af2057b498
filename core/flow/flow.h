// SPDX-License-Identifier: Apache-2.0
/// Flows: what the user asked for, and what happened to each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace sluice {

/// One message from one host to another. The id of a flow is its index in the scenario's list.
struct FlowSpec {
    NodeId src = 0;
    NodeId dst = 0;
    std::int64_t size = 0;  ///< payload bytes, >= 1
    Tick start = kNever;    ///< kNever: started by the Application
    std::uint16_t sport = 10000;
    std::uint16_t dport = 100;
    std::uint8_t priority = 3;  ///< traffic class 1..7
};

/// What happened to a flow. Times are simulated time; kNever if it did not come to that.
struct FlowResult {
    Tick start = kNever;             ///< the queue pair was created
    Tick received = kNever;          ///< last in-order byte at the receiver
    Tick finish = kNever;            ///< last ACK at the sender; FCT = finish - start
    std::int64_t retransmitted = 0;  ///< payload bytes sent more than once
};

/// Egress ports of a flow's data packets (and of its ACKs), source port first. Empty: by routing.
struct FlowPath {
    std::vector<PortId> forward;
    std::vector<PortId> reverse;
};

/// Gives each flow HPCC ns-3's source port: 10000, 10001, ... per (src, dst) pair in list order.
void assign_source_ports(std::vector<FlowSpec>& flows);

}  // namespace sluice
