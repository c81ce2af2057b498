// SPDX-License-Identifier: Apache-2.0
/// The switches of a topology and the cables between them, as compact adjacency lists: what
/// routing searches. Hosts are not in it, because no packet passes through a host. Also keeps which
/// links, hosts' included, are in service.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/topology/topology.h"

namespace sluice {

class SwitchGraph {
  public:
    struct Edge {
        std::uint32_t to;  ///< switch index; the switch itself while the cable is out of service,
                           ///< which no shortest path takes
        PortId port;       ///< egress
    };
    struct EdgeRange {
        const Edge* first;
        const Edge* last;
        const Edge* begin() const { return first; }
        const Edge* end() const { return last; }
    };

    explicit SwitchGraph(const Topology& topology);

    std::size_t size() const { return first_edge_.size() - 1; }
    /// Index of a switch, kNone for a host.
    std::uint32_t index_of(NodeId node) const { return index_of_[node]; }
    /// Edges of a switch, by ascending port.
    EdgeRange edges(std::uint32_t index) const {
        return {edges_.data() + first_edge_[index], edges_.data() + first_edge_[index + 1]};
    }
    /// No other switch is a neighbour, in service or not: only its own hosts are reached over it.
    bool is_lone(std::uint32_t index) const { return first_edge_[index] == first_edge_[index + 1]; }
    bool is_nvswitch(std::uint32_t index) const { return nvswitch_[index] != 0; }

    bool link_up(LinkId link) const { return up_[link] != 0; }
    void set_link(LinkId link, bool up);

    std::size_t memory_bytes() const;

  private:
    const Topology& topology_;
    std::vector<std::uint32_t> index_of_;
    std::vector<std::uint32_t> first_edge_;
    std::vector<Edge> edges_;
    std::vector<std::uint8_t> nvswitch_;
    std::vector<std::uint8_t> up_;
};

}  // namespace sluice
