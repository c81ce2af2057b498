// SPDX-License-Identifier: Apache-2.0
/// Symmetries of a part of the network: ways to name its hosts, ports and flows by each other that leave it
/// what it is, and the same between two parts.
///
/// They are found by following flows from one host, which is taken to be another one: its flows are the other
/// one's in the order of their ids, their destinations the others', and so on; then the hosts to which no flow has led, from what
/// they send to those that have names. A part of n hosts in a ring has n of them. What is found is a symmetry of who sends what by which ports; whether the state is the same is for
/// others to compare (Likeness).
#pragma once

#include <optional>

#include "core/fold/flow_prints.h"

namespace sluice::step {

/// A part by numbers of its own.
struct PartShape {
    std::vector<NodeId> host;
    std::vector<std::uint32_t> first_unit;  ///< by host: its ports' are as many numbers in turn
    std::vector<PortId> unit;    ///< all ports of its hosts, and those that its flows go by
    std::vector<FlowSlot> flow;  ///< by id
    std::vector<std::vector<std::uint32_t>> sent;  ///< by host: flows, by id
    std::vector<std::uint32_t> src;                ///< by flow
    std::vector<std::uint32_t> dst;                ///< kNone: its turn has not come
    std::vector<std::vector<std::uint32_t>> way;  ///< units by which it goes, as its print has them

    /// `scratch` by port, then by node: all kNone, and left so.
    PartShape(const World& world, const FlowPrints& prints, const std::vector<FlowSlot>& flows,
              std::vector<std::uint32_t>& scratch);
};

/// Each of a part's hosts, units and flows, by number, as one of another part's, or of its own.
struct Isomorphism {
    std::vector<std::uint32_t> host;
    std::vector<std::uint32_t> unit;
    std::vector<std::uint32_t> flow;

    Isomorphism after(const Isomorphism& first) const;
    /// It leaves no host, unit or flow where it is.
    bool moves_all() const;
};

/// The one that takes host `from` to host `to`, if there is one that the search finds.
std::optional<Isomorphism> isomorphism(const World& world, const PartShape& part,
                                       std::uint32_t from, const PartShape& other,
                                       std::uint32_t to);

/// A group of symmetries each of which moves all but the first, which is the identity.
std::vector<Isomorphism> symmetries(const World& world, const PartShape& part);

/// One of each host, unit and flow that the group takes for each other, so that whatever its flows' packets
/// do, they do it among its units.
struct FirstSheet {
    std::vector<std::uint32_t> host;
    std::vector<std::uint32_t> unit;
    std::vector<std::uint32_t> flow;
};

/// Not every group has one that can be executed: none then. Flows that are `old` keep their own ways if that
/// is possible.
std::optional<FirstSheet> first_sheet(const Topology& topology, const PartShape& part,
                                      const std::vector<Isomorphism>& group,
                                      const std::vector<std::uint8_t>& old);

}  // namespace sluice::step
