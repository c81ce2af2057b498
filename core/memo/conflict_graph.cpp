// SPDX-License-Identifier: Apache-2.0
#include "core/memo/conflict_graph.h"

#include <utility>

#include "core/error.h"

namespace sluice::memo {

ConflictGraph::ConflictGraph(std::vector<std::int64_t> words) : words_(std::move(words)) {}

std::uint32_t ConflictGraph::add_vertex(const std::vector<std::int64_t>& colour) {
    colours_.insert(colours_.end(), colour.begin(), colour.end());
    ends_.push_back(colours_.size());
    return vertex_count() - 1;
}

void ConflictGraph::add_edge(std::uint32_t from, std::uint32_t to, std::int64_t label) {
    if (from >= vertex_count() || to >= vertex_count()) {
        throw InternalError("an edge of a conflict graph to a vertex that it does not have");
    }
    edges_.push_back({from, to, label});
}

}  // namespace sluice::memo
