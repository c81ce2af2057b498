// SPDX-License-Identifier: Apache-2.0
/// Kinds of flow groups: groups of one kind are equal up to the names of their flows, ports and nodes, and so behave alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/calibration/calibration_profile.h"
#include "core/clocks/flow_partitions.h"
#include "core/ids.h"
#include "core/memo/conflict_graph.h"
#include "core/units.h"

namespace sluice::hybrid {

/// What a group's key says of a flow.
struct KeyedFlow {
    const step::Footprint* way = nullptr;
    Tick base_rtt = 0;
    std::int64_t line_rate = 0;  ///< bits/s
    std::int64_t age_class = 0;  ///< as the group formed
    std::uint8_t traffic_class = 0;
    /// NetworkView::law_facts(), then a counter_class() per run of ports whose counters the algorithm reads.
    std::vector<std::int64_t> law;
};

/// What a group's key says of a port, beside which flows use it.
struct KeyedPort {
    std::int64_t rate = 0;        ///< bits/s
    std::int64_t mark_bytes = 0;  ///< queue length from which packets are marked
    std::int64_t ack_class = 0;   ///< class of the load by foreign ACKs
};

/// A group up to the names of its flows, ports and nodes. The order of its flows matters. Per flow: its properties, the
/// number of its algorithm's facts and these, its data path and its ACK path. A path is its length and its ports, which
/// are numbered by first appearance. A port's properties follow its first appearance.
using GroupKey = std::vector<std::int64_t>;

GroupKey group_key(const std::vector<KeyedFlow>& flows,
                   const std::function<KeyedPort(PortId)>& describe);

struct GroupKind {
    GroupKey key;
    ProfileKind profile;
};

/// A graph per kind. Graphs are isomorphic if the kinds are equal up to the order of their flows.
struct GroupGraph {
    memo::ConflictGraph graph;
    std::vector<std::uint32_t> flows;  ///< their vertices, in the key's order; all others are ports
};

/// `words` describe the graph as a whole; see memo::ConflictGraph.
GroupGraph group_graph(const GroupKind& kind, std::vector<std::int64_t> words);

}  // namespace sluice::hybrid
