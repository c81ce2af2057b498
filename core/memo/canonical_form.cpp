// SPDX-License-Identifier: Apache-2.0
#include "core/memo/canonical_form.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/memo/nauty_order.h"
#include "core/memo/refinement.h"
#include "core/random.h"

namespace sluice::memo {

namespace {

void take_words(Digester& digester, const ConflictGraph& graph) {
    digester.take(graph.words().size());
    for (const std::int64_t word : graph.words()) digester.take(static_cast<std::uint64_t>(word));
}

/// Of the graph with its vertices in `order`. Edges are a set: their digests are added up, which
/// needs no sorting.
Digest digest_in_order(const ConflictGraph& graph, const std::vector<std::uint32_t>& order) {
    Digester digester;
    take_words(digester, graph);
    digester.take(order.size());
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        const ConflictGraph::Colour colour = graph.colour(order[i]);
        digester.take(colour.count);
        for (const std::int64_t word : colour) digester.take(static_cast<std::uint64_t>(word));
    }
    Digest edges;
    for (const ConflictGraph::Edge& edge : graph.edges()) {
        Digester one;
        one.take((std::uint64_t{place[edge.from]} << 32) | place[edge.to]);
        one.take(static_cast<std::uint64_t>(edge.label));
        edges.high += one.digest().high;
        edges.low += one.digest().low;
    }
    digester.take(graph.edges().size());
    digester.take(edges);
    return digester.digest();
}

}  // namespace

Digest refinement(const ConflictGraph& graph) {
    Refined refined = refine(graph);
    std::sort(refined.colours.begin(), refined.colours.end());
    Digester digester;
    take_words(digester, graph);
    for (const std::uint64_t colour : refined.colours) digester.take(colour);
    return digester.digest();
}

CanonicalForm canonical_form(const ConflictGraph& graph) {
    const Refined refined = refine(graph);
    std::vector<std::uint32_t> order(graph.vertex_count());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return refined.colours[a] != refined.colours[b] ? refined.colours[a] < refined.colours[b]
                                                        : a < b;
    });
    if (refined.classes < graph.vertex_count()) {
        order = nauty_order(graph, refined.colours, order);
    }
    const Digest digest = digest_in_order(graph, order);
    return {digest, std::move(order)};
}

}  // namespace sluice::memo
