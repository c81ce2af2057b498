// SPDX-License-Identifier: Apache-2.0
#include "core/memo/refinement.h"

#include <algorithm>
#include <cstddef>

#include "core/random.h"

namespace sluice::memo {

namespace {

constexpr std::uint64_t kOutwards = 0x452821e638d01377ULL;
constexpr std::uint64_t kInwards = 0xbe5466cf34e90c6cULL;
constexpr std::uint64_t kLoop = 0xc0ac29b7c97c50ddULL;

/// Counts different words in linear time.
class Counter {
  public:
    explicit Counter(std::size_t most) {
        std::size_t size = 16;
        while (size < 2 * most) size *= 2;
        slots_.resize(size);
    }

    std::uint32_t different(const std::vector<std::uint64_t>& words) {
        std::fill(slots_.begin(), slots_.end(), 0);
        const std::size_t mask = slots_.size() - 1;
        std::uint32_t count = 0;
        for (const std::uint64_t word : words) {
            // 0 marks a free slot, and stands for 1 as a word: the two are not told apart.
            const std::uint64_t kept = word == 0 ? 1 : word;
            std::size_t at = kept & mask;
            while (slots_[at] != 0 && slots_[at] != kept) at = (at + 1) & mask;
            if (slots_[at] == 0) {
                slots_[at] = kept;
                ++count;
            }
        }
        return count;
    }

  private:
    std::vector<std::uint64_t> slots_;
};

std::vector<std::uint64_t> first_colours(const ConflictGraph& graph) {
    std::vector<std::uint64_t> colours(graph.vertex_count());
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        const ConflictGraph::Colour words = graph.colour(vertex);
        std::uint64_t colour = mix_bits(words.count);
        for (const std::int64_t word : words) {
            colour = mix_bits(colour ^ static_cast<std::uint64_t>(word));
        }
        colours[vertex] = colour;
    }
    // A loop is the vertex's own: as a neighbour it would look like an edge to one of its colour.
    for (const ConflictGraph::Edge& edge : graph.edges()) {
        if (edge.from == edge.to) {
            colours[edge.from] += mix_bits(static_cast<std::uint64_t>(edge.label) ^ kLoop);
        }
    }
    return colours;
}

struct Sides {
    std::uint32_t from;
    std::uint32_t to;
    std::uint64_t out;
    std::uint64_t in;
};

}  // namespace

std::uint64_t label_outwards(std::int64_t label) {
    return mix_bits(static_cast<std::uint64_t>(label) ^ kOutwards);
}

std::uint64_t label_inwards(std::int64_t label) {
    return mix_bits(static_cast<std::uint64_t>(label) ^ kInwards);
}

Refined refine(const ConflictGraph& graph) {
    Refined refined{first_colours(graph), 0};
    std::vector<Sides> edges;
    edges.reserve(graph.edges().size());
    for (const ConflictGraph::Edge& edge : graph.edges()) {
        if (edge.from == edge.to) continue;
        edges.push_back(
            {edge.from, edge.to, label_outwards(edge.label), label_inwards(edge.label)});
    }
    std::vector<std::uint64_t>& colours = refined.colours;
    Counter counter(colours.size());
    std::vector<std::uint64_t> sums(colours.size());
    std::uint32_t before = 0;
    refined.classes = counter.different(colours);
    // One round more than tells vertices apart: only then do all colours know of all edges.
    do {
        before = refined.classes;
        std::fill(sums.begin(), sums.end(), 0);
        for (const Sides& edge : edges) {
            sums[edge.from] += mix_bits(colours[edge.to] ^ edge.out);
            sums[edge.to] += mix_bits(colours[edge.from] ^ edge.in);
        }
        for (std::size_t i = 0; i < colours.size(); ++i) {
            colours[i] = mix_bits(mix_bits(colours[i]) + sums[i]);
        }
        refined.classes = counter.different(colours);
    } while (refined.classes > before);
    return refined;
}

}  // namespace sluice::memo
