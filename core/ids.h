// SPDX-License-Identifier: Apache-2.0
/// Index types. A node id is the id of the topology file; a port id is global: the ports of node n
/// are [first_port(n), first_port(n + 1)), in the order in which its links were listed.
#pragma once

#include <cstdint>

namespace sluice {

using NodeId = std::uint32_t;
using LinkId = std::uint32_t;
/// One end of a cable; as an egress it also names the directed link that starts there.
using PortId = std::uint32_t;
using FlowId = std::uint32_t;
/// The ports of one node that step together (core/packet/state.h).
using CellId = std::uint32_t;

inline constexpr std::uint32_t kNone = 0xffffffffU;

}  // namespace sluice
