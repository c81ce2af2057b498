// SPDX-License-Identifier: Apache-2.0
/// A packet as it would be on a real cable: an Ethernet frame without FCS. Data, ACKs and NACKs are RoCEv2, data as an RDMA
/// write of its flow; PFC frames are those of IEEE 802.1Qbb. Addresses are made of node numbers:
///   MAC        02:00:00 and the node at this end, or at the other end, of the cable
///   IP         10.0.0.0 + host + 1
///   UDP        from the flow's source port to 4791
///   queue pair 2 + the flow's id, modulo 2^24 - 2
/// Payload is zeros. Headers are those of the standards, so that the frame is some bytes longer than Packet::bytes.
/// Sources: InfiniBand architecture, volume 1, 9 and annex A17; IEEE 802.1Q, 36.
#pragma once

#include <string>

#include "core/packet/state.h"
#include "core/topology/topology.h"

namespace sluice {

/// `packet`, sent by `port`. The flow's slot must still be its own.
std::string roce_frame(const step::World& world, const Topology& topology, PortId port,
                       const step::Packet& packet);

}  // namespace sluice
