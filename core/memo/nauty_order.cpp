// SPDX-License-Identifier: Apache-2.0
#include "core/memo/nauty_order.h"

#include <nauty/nausparse.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/memo/refinement.h"

namespace sluice::memo {

namespace {

/// All edges between two vertices: as a set, how each of them sees it. One decides the other.
struct Pair {
    std::uint32_t class_a;  ///< class_a <= class_b
    std::uint32_t class_b;
    std::uint64_t from_a;  ///< from_a <= from_b within a class
    std::uint64_t from_b;
    std::uint32_t a;  ///< places among the vertices that nauty gets
    std::uint32_t b;

    auto kind() const { return std::tie(class_a, class_b, from_a, from_b); }
    /// Which end is which must be said, because their colours do not.
    bool oriented() const { return class_a == class_b && from_a != from_b; }
};

/// The colours with several vertices, and the places of these vertices, colour by colour. A vertex
/// with a colour of its own says nothing more: refinement has told its neighbours apart.
struct Classes {
    std::vector<std::uint32_t> class_of;  ///< by place
    std::vector<std::uint32_t> size;      ///< by class
    std::vector<std::uint32_t> vertex;    ///< by place
    std::vector<std::uint32_t> place;     ///< by vertex; kAlone for one alone in its colour
};
constexpr std::uint32_t kAlone = ~std::uint32_t{0};

Classes classes_of(const std::vector<std::uint64_t>& colours,
                   const std::vector<std::uint32_t>& sorted) {
    Classes classes;
    classes.place.assign(sorted.size(), kAlone);
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
        while (end < sorted.size() && colours[sorted[end]] == colours[sorted[begin]]) ++end;
        if (end - begin == 1) continue;
        for (std::size_t i = begin; i < end; ++i) {
            classes.place[sorted[i]] = static_cast<std::uint32_t>(classes.vertex.size());
            classes.vertex.push_back(sorted[i]);
            classes.class_of.push_back(static_cast<std::uint32_t>(classes.size.size()));
        }
        classes.size.push_back(static_cast<std::uint32_t>(end - begin));
    }
    return classes;
}

/// Joined pairs of vertices, those of a kind together.
std::vector<Pair> pairs_of(const ConflictGraph& graph, const Classes& classes) {
    std::vector<Pair> pairs;
    for (const ConflictGraph::Edge& edge : graph.edges()) {
        const std::uint32_t from = classes.place[edge.from];
        const std::uint32_t to = classes.place[edge.to];
        if (from == kAlone || to == kAlone || from == to) continue;
        Pair pair{classes.class_of[from],
                  classes.class_of[to],
                  label_outwards(edge.label),
                  label_inwards(edge.label),
                  from,
                  to};
        // Places go by class: the order of places is that of classes.
        if (to < from) {
            pair = {pair.class_b, pair.class_a, pair.from_b, pair.from_a, to, from};
        }
        pairs.push_back(pair);
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& x, const Pair& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    std::size_t last = 0;
    for (std::size_t i = 1; i < pairs.size(); ++i) {
        if (pairs[i].a == pairs[last].a && pairs[i].b == pairs[last].b) {
            pairs[last].from_a += pairs[i].from_a;
            pairs[last].from_b += pairs[i].from_b;
        } else {
            pairs[++last] = pairs[i];
        }
    }
    if (!pairs.empty()) pairs.resize(last + 1);
    for (Pair& pair : pairs) {
        if (pair.class_a == pair.class_b && pair.from_b < pair.from_a) {
            std::swap(pair.from_a, pair.from_b);
            std::swap(pair.a, pair.b);
        }
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& x, const Pair& y) { return x.kind() < y.kind(); });
    return pairs;
}

/// An undirected graph with colours as nauty takes it.
class Plain {
  public:
    explicit Plain(const Classes& classes) : vertices_(classes.vertex.size()) {
        std::size_t end = 0;
        for (const std::uint32_t size : classes.size) cell_ends_.push_back(end += size);
    }

    void join(std::size_t a, std::size_t b) { edges_.emplace_back(a, b); }
    std::size_t add() { return vertices_++; }
    /// What was added since the last cell ended has a colour of its own.
    void end_cell() { cell_ends_.push_back(vertices_); }
    bool has_edges() const { return !edges_.empty(); }

    /// Its vertices in canonical order, cells in the order in which they were added.
    std::vector<int> canonical_order() const;

  private:
    std::size_t vertices_;
    std::vector<std::size_t> cell_ends_;
    std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

/// nauty keeps its working memory in variables of the thread.
struct ThreadMemory {
    ~ThreadMemory() {
        nauty_freedyn();
        nautil_freedyn();
        naugraph_freedyn();
        nausparse_freedyn();
    }
};

std::vector<int> Plain::canonical_order() const {
    std::vector<std::size_t> begin(vertices_);
    std::vector<int> degree(vertices_, 0);
    std::vector<int> neighbours(2 * edges_.size());
    for (const auto& [a, b] : edges_) {
        ++degree[a];
        ++degree[b];
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < vertices_; ++i) {
        begin[i] = at;
        at += static_cast<std::size_t>(degree[i]);
    }
    std::vector<std::size_t> next = begin;
    for (const auto& [a, b] : edges_) {
        neighbours[next[a]++] = static_cast<int>(b);
        neighbours[next[b]++] = static_cast<int>(a);
    }
    std::vector<int> order(vertices_);
    std::vector<int> more(vertices_, 1);  // the next vertex of the order is in the same cell
    std::vector<int> orbits(vertices_);
    for (std::size_t i = 0; i < vertices_; ++i) order[i] = static_cast<int>(i);
    for (const std::size_t end : cell_ends_) more[end - 1] = 0;

    SG_DECL(graph);
    graph.nv = static_cast<int>(vertices_);
    graph.nde = neighbours.size();
    graph.v = begin.data();
    graph.d = degree.data();
    graph.e = neighbours.data();
    graph.vlen = graph.dlen = vertices_;
    graph.elen = neighbours.size();
    SG_DECL(canonical);
    DEFAULTOPTIONS_SPARSEGRAPH(options);
    options.getcanon = TRUE;
    options.defaultptn = FALSE;
    statsblk statistics;
    static thread_local ThreadMemory memory;
    sparsenauty(&graph, order.data(), more.data(), orbits.data(), &options, &statistics,
                &canonical);
    SG_FREE(canonical);
    return order;
}

/// Colours and edges alone say what labels and directions said: the first way in which two colours
/// are joined is an edge, no more; any other is a vertex between the two, of a colour of its own, or
/// two where it has a direction that their colours do not tell.
Plain plain_graph(const std::vector<Pair>& pairs, const Classes& classes) {
    Plain plain(classes);
    std::pair<std::uint32_t, std::uint32_t> joined{kAlone, kAlone};
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
        const Pair& kind = pairs[begin];
        while (end < pairs.size() && pairs[end].kind() == kind.kind()) ++end;
        const std::uint64_t size_a = classes.size[kind.class_a];
        const std::uint64_t size_b = classes.size[kind.class_b];
        const bool within = kind.class_a == kind.class_b;
        // All with all tells nobody apart.
        if (!kind.oriented() &&
            end - begin == (within ? size_a * (size_a - 1) / 2 : size_a * size_b)) {
            continue;
        }
        const std::pair<std::uint32_t, std::uint32_t> both{kind.class_a, kind.class_b};
        if (!kind.oriented() && joined != both) {
            joined = both;
            for (std::size_t i = begin; i < end; ++i) plain.join(pairs[i].a, pairs[i].b);
            continue;
        }
        std::vector<std::size_t> between(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            plain.join(pairs[i].a, between[i - begin] = plain.add());
        }
        plain.end_cell();
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t last = between[i - begin];
            if (kind.oriented()) {
                const std::size_t second = plain.add();
                plain.join(last, second);
                last = second;
            }
            plain.join(last, pairs[i].b);
        }
        if (kind.oriented()) plain.end_cell();
    }
    return plain;
}

}  // namespace

std::vector<std::uint32_t> nauty_order(const ConflictGraph& graph,
                                       const std::vector<std::uint64_t>& colours,
                                       const std::vector<std::uint32_t>& sorted) {
    const Classes classes = classes_of(colours, sorted);
    const Plain plain = plain_graph(pairs_of(graph, classes), classes);
    if (!plain.has_edges()) return sorted;
    const std::vector<int> found = plain.canonical_order();
    std::vector<std::uint32_t> order;
    order.reserve(sorted.size());
    std::size_t next = 0;
    for (const std::uint32_t vertex : sorted) {
        if (classes.place[vertex] == kAlone) {
            order.push_back(vertex);
            continue;
        }
        const auto place = static_cast<std::size_t>(found[next]);
        if (place >= classes.vertex.size() || classes.class_of[place] != classes.class_of[next]) {
            throw InternalError("nauty left the colours of a graph");
        }
        ++next;
        order.push_back(classes.vertex[place]);
    }
    return order;
}

}  // namespace sluice::memo
