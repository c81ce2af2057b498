// SPDX-License-Identifier: Apache-2.0
/// What is in conflict, as a graph: flows and ports are vertices, coloured by what decides their
/// course, and an edge says that a flow goes through a port, labelled by how. The flow conflict
/// graph of Wormhole (NSDI'26, 4.2), with ports of its own in place of counts of shared links, so
/// that equal graphs are equal situations. What the numbers mean is the caller's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::memo {

class ConflictGraph {
  public:
    struct Edge {
        std::uint32_t from;
        std::uint32_t to;
        std::int64_t label;
    };
    /// A vertex's colour: valid until the next vertex is added.
    struct Colour {
        const std::int64_t* words;
        std::size_t count;

        const std::int64_t* begin() const { return words; }
        const std::int64_t* end() const { return words + count; }
    };

    /// `words` describe the whole: a fingerprint of everything else that decides.
    explicit ConflictGraph(std::vector<std::int64_t> words);

    /// Returns its index: 0, 1, 2, ... Colours are equal if all their words are, in their order.
    std::uint32_t add_vertex(const std::vector<std::int64_t>& colour);
    /// Any two vertices, which may be the same or joined already. InternalError for one that is not
    /// there.
    void add_edge(std::uint32_t from, std::uint32_t to, std::int64_t label);

    std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(ends_.size()); }
    Colour colour(std::uint32_t vertex) const {
        const std::size_t begin = vertex == 0 ? 0 : ends_[vertex - 1];
        return {colours_.data() + begin, ends_[vertex] - begin};
    }
    const std::vector<Edge>& edges() const { return edges_; }
    const std::vector<std::int64_t>& words() const { return words_; }

  private:
    std::vector<std::int64_t> words_;
    std::vector<std::int64_t> colours_;  ///< of all vertices, one after the other
    std::vector<std::size_t> ends_;      ///< of each vertex's words in colours_
    std::vector<Edge> edges_;
};

}  // namespace sluice::memo
