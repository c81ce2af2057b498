// SPDX-License-Identifier: Apache-2.0
/// Next hops of a network as its links are now, flat, for a lane (core/packet/route_table.h).
#pragma once

#include <cstddef>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/route_table.h"
#include "core/routing/routing.h"

namespace sluice::gpu {

/// The arrays of a step::RouteTable: a row for each group of destinations that flows have, 4 bytes a switch; a list for
/// each set of next hops.
struct RouteImage {
    RouteImage() = default;
    /// `flows` by slot. NextHopOrder::port only.
    RouteImage(const Topology& topology, const Routing& routing,
               const std::vector<FlowSpec>& flows);

    /// With room for aligning them.
    std::size_t bytes() const;

    std::vector<std::uint32_t> column;
    std::vector<std::uint32_t> row;
    std::vector<std::uint32_t> next;
    std::vector<std::uint32_t> far;
    std::vector<PortId> ports;
    std::vector<step::RouteTable::HostWay> way;
    std::uint32_t columns = 0;

  private:
    std::uint32_t list_of(const std::vector<PortId>& list);
};

}  // namespace sluice::gpu
