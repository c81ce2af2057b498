// SPDX-License-Identifier: Apache-2.0
/// A canonical order of vertices that colour refinement leaves alike, by nauty.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memo/conflict_graph.h"

namespace sluice::memo {

/// `colours` is a partition to which refinement adds nothing; `sorted` has all vertices by colour.
/// Returns them by colour, those of one colour in canonical order.
std::vector<std::uint32_t> nauty_order(const ConflictGraph& graph,
                                       const std::vector<std::uint64_t>& colours,
                                       const std::vector<std::uint32_t>& sorted);

}  // namespace sluice::memo
