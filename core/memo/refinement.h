// SPDX-License-Identifier: Apache-2.0
/// Colour refinement (Weisfeiler and Leman, 1968): a vertex's colour becomes its own and those of
/// its neighbours, with the edges' directions and labels, until no round tells more vertices apart.
/// Colours are hashes, so that they mean the same in every graph; a collision makes the partition
/// coarser, never dependent on how the vertices are numbered.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memo/conflict_graph.h"

namespace sluice::memo {

struct Refined {
    std::vector<std::uint64_t> colours;  ///< by vertex
    std::uint32_t classes = 0;           ///< different colours
};

Refined refine(const ConflictGraph& graph);

/// A label as each end of an edge sees it: by hash, so that sums of these are sets of edges.
std::uint64_t label_outwards(std::int64_t label);
std::uint64_t label_inwards(std::int64_t label);

}  // namespace sluice::memo
