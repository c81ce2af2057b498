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
/// A flow, by number, for as long as a run lasts and in its files: the flows that a run is given are
/// 0, 1, ... in the order of their list; those that are opened while it runs have the numbers that their
/// application gives them, or one made of their host and their place among its flows.
using FlowId = std::uint64_t;
/// Where an engine keeps a flow while it lives. Given to another flow afterwards: no order, no random
/// draw and no result may depend on it.
using FlowSlot = std::uint32_t;
/// The ports of one node that step together (core/packet/state.h).
using CellId = std::uint32_t;

inline constexpr std::uint32_t kNone = 0xffffffffU;
inline constexpr FlowId kNoFlow = ~FlowId{0};

}  // namespace sluice
