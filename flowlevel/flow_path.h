// SPDX-License-Identifier: Apache-2.0
/// What a flow puts on which ports, and how long its last packet and the last ACK are under way:
/// what the flow level knows of packets.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/network_config.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice::flowlevel {

/// A flow as frames on the wire.
struct FlowFrames {
    std::int64_t packets = 0;
    std::int64_t data_bytes = 0;  ///< of all packets, headers included
    std::int64_t last_bytes = 0;  ///< of the last packet
    std::int64_t acks = 0;        ///< without those that a closed window asks for
    std::int64_t ack_bytes = 0;   ///< of all ACKs
};

FlowFrames frames_of(std::int64_t size, const NetworkConfig& config);

/// Which part of a flow's packets and of its ACKs leave by a port, each in (0, 1] or 0.
struct PortShare {
    PortId port = kNone;
    double data = 0;
    double acks = 0;
};

inline bool operator==(const PortShare& a, const PortShare& b) {
    return a.port == b.port && a.data == b.data && a.acks == b.acks;
}

/// Ports in the order of the data's path, then the ACKs'; each port once.
struct FlowPorts {
    std::vector<PortShare> shares;  ///< empty: no path
    /// From the last byte's departure at the rate of the slowest link to its arrival, for a flow
    /// alone: the time that the packets need for the other links.
    Tick pipeline = 0;
    Tick ack_return = 0;  ///< of one ACK over idle links
};

/// The ports by `path` where it is given and all its links are up, else by ECMP; of a flow that is
/// sprayed every equal-cost next hop takes an equal part, and times are those of the ECMP path.
FlowPorts find_ports(const Topology& topology, const Routing& routing, const NetworkConfig& config,
                     const FlowSpec& spec, const FlowPath& path);

/// Bytes per tick that full frames of `config` get out of a port.
double frame_rate(const Topology& topology, const NetworkConfig& config, PortId port);

}  // namespace sluice::flowlevel
