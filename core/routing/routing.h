// SPDX-License-Identifier: Apache-2.0
/// Shortest-path routing by hop count, without transit through hosts, all equal-cost next hops
/// kept (as HPCC ns-3 does); at equal length next hops over an NVSwitch win (as SimAI does). Where a
/// topology's switches form groups and it asks for that (GroupRouting::minimal and valiant), cables
/// between groups count first, and all others after them.
/// Tables are compressed: hosts with the same set of attached switches share one destination
/// group, and a (node, group) pair points to a de-duplicated next-hop set, so a k=60 fat-tree
/// (54,000 hosts) needs well under 2 GiB. NVSwitches, which join nothing but hosts, make no groups.
/// The table of a destination group is computed when it is first asked for; of networks whose tables
/// take more than 1 GiB together not all are kept. Queries are const and
/// may come from any number of threads at once; prepare() and prepare_all() move that cost to a
/// known place. set_link() must run alone, and ends the life of ranges handed out before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/flow/ecmp_hash.h"
#include "core/ids.h"
#include "core/topology/topology.h"

namespace sluice {

/// The order of a node's equal-cost next hops, among which a hash picks.
enum class NextHopOrder : std::uint8_t {
    port,  ///< by ascending port
    /// The HPCC ns-3's: next hops in the order in which a breadth-first search from the destination
    /// finds them, which takes neighbours by their nodes' addresses in memory (third.cc,
    /// CalculateRoute); with glibc's allocator that is by descending id. Of parallel cables between
    /// two nodes only the last one is used.
    ns3,
};

/// That of a network under `arithmetic`.
constexpr NextHopOrder next_hop_order(Arithmetic arithmetic) {
    return arithmetic == Arithmetic::ns3 ? NextHopOrder::ns3 : NextHopOrder::port;
}

class Routing {
  public:
    struct PortRange {
        const PortId* first;
        const PortId* last;
        const PortId* begin() const { return first; }
        const PortId* end() const { return last; }
        std::size_t size() const { return static_cast<std::size_t>(last - first); }
        bool empty() const { return first == last; }
    };

    /// More than that is not kept of tables: where all would take more, the oldest goes, and is
    /// computed again when it is next asked for. A network of n switches with hosts on each has n
    /// tables of n entries: those of a torus of 65,536 would take 34 GB.
    static constexpr std::size_t kTableBytes = std::size_t{1} << 30;

    explicit Routing(const Topology& topology, NextHopOrder order = NextHopOrder::port,
                     std::size_t table_bytes = kTableBytes);
    ~Routing();
    Routing(const Routing&) = delete;
    Routing& operator=(const Routing&) = delete;

    /// Egress ports of `node` on shortest paths to host `dst`, in order, under HopWeights::rate several times each;
    /// empty if unreachable.
    /// Empty too if `node` is `dst` or `dst` is not a host.
    PortRange next_hops(NodeId node, NodeId dst) const;
    /// ECMP: next_hops(node, key.dst)[hash % size], or kNone if unreachable; at hosts by key.nic_port, if that is given.
    PortId select(NodeId node, const FlowKey& key) const;
    /// Hops (links) from `node` to host `dst`, or -1 if unreachable.
    int distance(NodeId node, NodeId dst) const;
    /// The egress ports a flow takes, source port first, by ECMP. Empty if unreachable.
    std::vector<PortId> path(const FlowKey& key) const;

    /// Hosts with the same number have the same next hops and distances at all switches but NVSwitches that join hosts only
    /// and those that they hang on.
    std::uint32_t group(NodeId host) const;

    /// Computes the table that host `dst` needs, or all tables, now.
    void prepare(NodeId dst) const;
    void prepare_all() const;

    /// Takes a link out of, or back into, service. Tables that the link can change are dropped, and
    /// computed again when next asked for.
    void set_link(LinkId link, bool up);
    bool link_up(LinkId link) const;

    std::size_t memory_bytes() const;

  private:
    struct Tables;
    const Topology& topology_;
    std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
