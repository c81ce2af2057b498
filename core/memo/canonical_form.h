// SPDX-License-Identifier: Apache-2.0
/// Equal situations get equal numbers, whatever their flows and ports are called. Two graphs are
/// isomorphic if one is the other with its vertices renumbered: colours, edges, directions, labels
/// and the words of the whole agree.
/// Safe for threads; a pure function of the graph as it was built, call order and thread included.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memo/conflict_graph.h"
#include "core/memo/digest.h"

namespace sluice::memo {

/// Isomorphic graphs have the same. Others may, too, where their vertices look alike from near
/// (regular graphs): two triangles and a hexagon do. By colour refinement: time in proportion to the
/// edges and to the rounds until nothing changes.
Digest refinement(const ConflictGraph& graph);

struct CanonicalForm {
    /// Isomorphic graphs have the same, others do not but by chance (of 128 bits): it is of the whole
    /// renumbered graph.
    Digest digest;
    /// order[i] is the vertex at canonical place i: vertices of isomorphic graphs at the same place
    /// correspond to each other.
    std::vector<std::uint32_t> order;
};

/// Where refinement tells all vertices apart, places are those of the colours; else nauty (McKay and
/// Piperno, 2014) decides among the vertices that it leaves alike; not its Traces, which names some forests in several ways
/// (2.8.6).
CanonicalForm canonical_form(const ConflictGraph& graph);

}  // namespace sluice::memo
