// SPDX-License-Identifier: Apache-2.0
/// Which worker steps which node: each has about as much to do as another one, and little crosses from one's
/// nodes to another's. By recursive bisection: a part grows from a node by the neighbour that is joined to it
/// most, then nodes change sides as long as the estimated time shrinks (Fiduccia and Mattheyses, "A
/// linear-time heuristic for improving network partitions", DAC 1982). Results depend on none of it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/topology/topology.h"

namespace sluice::step {

/// Packets by sending port -> worker by node, below `workers` >= 1.
std::vector<std::uint16_t> divide_nodes(const Topology& topology,
                                        const std::vector<std::uint64_t>& packets,
                                        std::uint32_t workers);

/// Worker by node where most of the network skips: few parts of it have something to do at a time, and it changes which these
/// are. Networks of many leaves are divided by leaves, others everywhere.
std::vector<std::uint16_t> divide_for_skips(const Topology& topology, std::uint32_t workers);

/// Each leaf switch and its hosts are one worker's, in turn.
std::vector<std::uint16_t> divide_by_leaves(const Topology& topology, std::uint32_t workers);

/// Each switch and its hosts are several workers': whichever of them have something to do, it is shared, at the price of packets
/// that cross.
std::vector<std::uint16_t> divide_everywhere(const Topology& topology, std::uint32_t workers);

/// The estimated time of a window under a division, beside what it would be if all work were shared evenly and
/// nothing crossed: 1 at best.
double unevenness(const Topology& topology, const std::vector<std::uint64_t>& packets,
                  const std::vector<std::uint16_t>& owner, std::uint32_t workers);

}  // namespace sluice::step
