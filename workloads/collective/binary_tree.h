// SPDX-License-Identifier: Apache-2.0
/// NCCL's double binary tree (Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth
/// broadcast, reduction and scan", Parallel Computing 35, 2009; as NCCL builds it, graph/trees.cc).
/// First tree: node r hangs below the node that has r's lowest set bit cleared and the next one set,
/// or, where that does not exist, only cleared; node 0 is the root and has one child. Odd nodes are
/// leaves. Second tree: the first one with node r in the place of n - 1 - r (n even), or of r - 1
/// (n odd), so that its inner nodes are leaves of the first, where n is even.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

struct Tree {
    std::uint32_t root = 0;
    std::vector<std::uint32_t> parent;                 ///< by node; of the root: itself
    std::vector<std::vector<std::uint32_t>> children;  ///< by node
};

/// `second`: the complementary one. `nodes` >= 1.
Tree binary_tree(std::uint32_t nodes, bool second);

}  // namespace sluice
