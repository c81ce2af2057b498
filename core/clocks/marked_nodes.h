// SPDX-License-Identifier: Apache-2.0
/// Nodes that something is to be done to, each once, the last marked first.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice::step {

class MarkedNodes {
  public:
    explicit MarkedNodes(std::size_t nodes) : is_marked_(nodes, 0) {}

    void mark(NodeId node) {
        if (is_marked_[node] == 0) {
            is_marked_[node] = 1;
            marked_.push_back(node);
        }
    }
    bool empty() const { return marked_.empty(); }
    NodeId take() {
        const NodeId node = marked_.back();
        marked_.pop_back();
        is_marked_[node] = 0;
        return node;
    }

  private:
    std::vector<NodeId> marked_;
    std::vector<std::uint8_t> is_marked_;  ///< by node
};

}  // namespace sluice::step
