// SPDX-License-Identifier: Apache-2.0
/// Groups that are renamed copies of each other, and so go the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/calibration/steady_curve.h"
#include "core/clocks/flow_partitions.h"
#include "core/ids.h"
#include "core/memo/conflict_graph.h"
#include "core/units.h"

namespace sluice::hybrid {

/// What a group's flow is to its key.
struct ClusterFlow {
    const step::Footprint* way = nullptr;
    Tick base_rtt = 0;
    std::int64_t line_rate = 0;  ///< bits/s
    std::int64_t age = 0;        ///< a class of it, as the group formed
    std::uint8_t traffic_class = 0;
    /// NetworkView::law_facts(), and a counter_class() for every stretch of ports of which the law reads the counters.
    std::vector<std::int64_t> law;
};

/// What a port is to the key, beside which flows meet there.
struct ClusterPort {
    std::int64_t rate = 0;        ///< bits/s
    std::int64_t mark_bytes = 0;  ///< where it begins to mark
    std::int64_t across = 0;      ///< a class of the ACK stream that crosses it
};

/// A group up to the names of its flows, ports and nodes; the order of its flows counts. Flow by flow what it is, its
/// law's facts after their number, its ways: each the number of its ports, and the ports by order of appearance, what
/// a port is where it first appears.
using ClusterKey = std::vector<std::int64_t>;

ClusterKey cluster_key(const std::vector<ClusterFlow>& flows,
                       const std::function<ClusterPort(PortId)>& describe);

/// Groups that go the same way, and how they are recorded.
struct ClusterKind {
    ClusterKey key;
    CurveKind curve;
};

/// Isomorphic for groups that differ in what their flows and ports are called and in nothing else.
struct ClusterGraph {
    memo::ConflictGraph graph;
    std::vector<std::uint32_t> flows;  ///< vertices, in the key's order; the others are ports
};

/// `words` describe the whole.
ClusterGraph cluster_graph(const ClusterKind& kind, std::vector<std::int64_t> words);

}  // namespace sluice::hybrid
