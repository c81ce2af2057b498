// SPDX-License-Identifier: Apache-2.0
#include "core/memo/canonical_form.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bitset>
#include <functional>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"

using namespace sluice;
using memo::CanonicalForm;
using memo::ConflictGraph;

namespace {

/// A graph as lists, to be built in any order.
struct Plan {
    std::vector<std::int64_t> words;
    std::vector<std::vector<std::int64_t>> colours;
    std::vector<ConflictGraph::Edge> edges;
};

ConflictGraph built(const Plan& plan) {
    ConflictGraph graph(plan.words);
    for (const auto& colour : plan.colours) graph.add_vertex(colour);
    for (const ConflictGraph::Edge& edge : plan.edges) {
        graph.add_edge(edge.from, edge.to, edge.label);
    }
    return graph;
}

class Draw {
  public:
    explicit Draw(std::uint64_t seed) : seed_(seed) {}
    std::uint32_t below(std::uint32_t bound) { return uniform_below(seed_, 0, n_++, bound); }
    template <typename List>
    void shuffle(List& list) {
        for (std::uint32_t i = static_cast<std::uint32_t>(list.size()); i > 1; --i) {
            std::swap(list[i - 1], list[below(i)]);
        }
    }

  private:
    std::uint64_t seed_;
    std::uint64_t n_ = 0;
};

/// The same with its vertices renumbered and its edges in another order.
Plan renumbered(const Plan& plan, Draw& draw) {
    std::vector<std::uint32_t> to(plan.colours.size());
    std::iota(to.begin(), to.end(), 0U);
    draw.shuffle(to);
    Plan other{plan.words, plan.colours, plan.edges};
    for (std::size_t i = 0; i < to.size(); ++i) other.colours[to[i]] = plan.colours[i];
    for (ConflictGraph::Edge& edge : other.edges) {
        edge.from = to[edge.from];
        edge.to = to[edge.to];
    }
    draw.shuffle(other.edges);
    return other;
}

/// Few colours and labels, so that much is alike; loops and repeated edges, too.
Plan random_plan(Draw& draw) {
    Plan plan{{static_cast<std::int64_t>(draw.below(3))}, {}, {}};
    const std::uint32_t vertices = 1 + draw.below(24);
    const std::uint32_t colours = 1 + draw.below(3);
    const std::uint32_t labels = 1 + draw.below(3);
    for (std::uint32_t i = 0; i < vertices; ++i) {
        plan.colours.push_back({static_cast<std::int64_t>(draw.below(colours)), -1});
    }
    for (std::uint32_t i = draw.below(3 * vertices); i > 0; --i) {
        plan.edges.push_back({draw.below(vertices), draw.below(vertices), draw.below(labels) - 1});
    }
    return plan;
}

/// A random orientation of a graph in which all vertices have two neighbours: refinement sees
/// little of it.
Plan rings(Draw& draw) {
    Plan plan;
    const std::uint32_t count = 1 + draw.below(4);
    const std::uint32_t size = 3 + draw.below(5);
    const bool directed = draw.below(2) != 0;
    for (std::uint32_t ring = 0; ring < count; ++ring) {
        for (std::uint32_t i = 0; i < size; ++i) {
            plan.colours.emplace_back();
            const std::uint32_t a = ring * size + i;
            const std::uint32_t b = ring * size + (i + 1) % size;
            plan.edges.push_back({a, b, 0});
            if (!directed) plan.edges.push_back({b, a, 0});
        }
    }
    return plan;
}

using Edges = std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>>;

/// Places map one graph onto the other: colours, and edges with multiplicity.
bool maps(const ConflictGraph& a, const CanonicalForm& of_a, const ConflictGraph& b,
          const CanonicalForm& of_b) {
    if (of_a.order.size() != a.vertex_count() || of_b.order.size() != a.vertex_count())
        return false;
    std::vector<std::uint32_t> to(a.vertex_count(), ~0U);
    std::vector<bool> taken(a.vertex_count(), false);
    for (std::size_t i = 0; i < of_a.order.size(); ++i) {
        const ConflictGraph::Colour one = a.colour(of_a.order[i]);
        const ConflictGraph::Colour other = b.colour(of_b.order[i]);
        if (!std::equal(one.begin(), one.end(), other.begin(), other.end())) return false;
        if (taken[of_b.order[i]]) return false;
        taken[of_b.order[i]] = true;
        to[of_a.order[i]] = of_b.order[i];
    }
    Edges mapped;
    Edges there;
    for (const auto& edge : a.edges()) mapped.insert({to[edge.from], to[edge.to], edge.label});
    for (const auto& edge : b.edges()) there.insert({edge.from, edge.to, edge.label});
    return mapped == there;
}

void check_renumberings(const Plan& plan, Draw& draw, int times) {
    const ConflictGraph graph = built(plan);
    const CanonicalForm form = memo::canonical_form(graph);
    for (int i = 0; i < times; ++i) {
        const ConflictGraph other = built(renumbered(plan, draw));
        const CanonicalForm of_other = memo::canonical_form(other);
        REQUIRE(of_other.digest == form.digest);
        REQUIRE(memo::refinement(other) == memo::refinement(graph));
        REQUIRE(maps(graph, form, other, of_other));
    }
}

void both_ways(Plan& plan, std::uint32_t a, std::uint32_t b) {
    plan.edges.push_back({a, b, 0});
    plan.edges.push_back({b, a, 0});
}

/// Refinement cannot tell them apart; the canonical form does, and knows each under other numbers.
void check_twins(const Plan& a, const Plan& b) {
    Draw draw(5);
    CHECK(memo::refinement(built(a)) == memo::refinement(built(b)));
    CHECK(memo::canonical_form(built(a)).digest != memo::canonical_form(built(b)).digest);
    check_renumberings(a, draw, 100);
    check_renumberings(b, draw, 100);
}

/// 16 vertices on a 4x4 torus, joined where `joined` says so of the differences.
Plan torus(const std::function<bool(std::uint32_t, std::uint32_t)>& joined) {
    Plan plan;
    plan.colours.resize(16);
    for (std::uint32_t a = 0; a < 16; ++a) {
        for (std::uint32_t b = 0; b < 16; ++b) {
            if (a != b && joined((b / 4 + 4 - a / 4) % 4, (b % 4 + 4 - a % 4) % 4)) {
                plan.edges.push_back({a, b, 0});
            }
        }
    }
    return plan;
}

/// Cai, Fuerer and Immerman's gadgets for the vertices of K4, one edge twisted or not: a vertex of
/// degree 3 becomes the 4 even subsets of its edges, an edge two vertices.
Plan gadgets(bool twisted) {
    Plan plan;
    const auto edge_vertex = [](std::uint32_t a, std::uint32_t b, std::uint32_t side) {
        constexpr std::uint32_t kIndex[4][4] = {
            {9, 0, 1, 2}, {0, 9, 3, 4}, {1, 3, 9, 5}, {2, 4, 5, 9}};
        return 16 + 2 * kIndex[a][b] + side;
    };
    plan.colours.resize(28);
    for (std::uint32_t node = 0; node < 28; ++node) plan.colours[node] = {node < 16 ? 0 : 1};
    for (std::uint32_t node = 0; node < 4; ++node) {
        std::uint32_t inner = 4 * node;
        for (std::uint32_t subset = 0; subset < 8; ++subset) {
            if (std::bitset<3>(subset).count() % 2 != 0) continue;
            std::uint32_t bit = 0;
            for (std::uint32_t other = 0; other < 4; ++other) {
                if (other == node) continue;
                std::uint32_t side = subset >> bit++ & 1;
                if (twisted && node == 0 && other == 1) side ^= 1;
                both_ways(plan, inner, edge_vertex(node, other, side));
            }
            ++inner;
        }
    }
    return plan;
}

}  // namespace

TEST_CASE("unit.memo.forms_of_flows_that_only_meet_in_pairs") {
    // Two hosts that send to the same others, and to each other: beside what refinement tells apart, paths of two flows and
    // the port in which they meet. nauty's Traces (2.8.6) gives them several forms.
    constexpr std::uint32_t kHosts = 8;
    Plan plan{{}, {}, {}};
    const auto flow_of = [](std::uint32_t sender, std::uint32_t other) {
        return sender * (kHosts - 1) + other - (other > sender ? 1 : 0);
    };
    constexpr std::uint32_t kFlows = 2 * (kHosts - 1);
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
        plan.colours.push_back({flow < kHosts - 1 ? 0 : 1, 1});
    }
    plan.colours.insert(plan.colours.end(), 2 + kHosts, {7});
    for (std::uint32_t sender = 0; sender < 2; ++sender) {
        for (std::uint32_t other = 0; other < kHosts; ++other) {
            if (other != sender) {
                const std::uint32_t flow = flow_of(sender, other);
                plan.edges.push_back({flow, kFlows + sender, 0});
                plan.edges.push_back({flow, kFlows + 2 + other, 1});
                plan.edges.push_back({flow, kFlows + 2 + sender, -1});
            }
        }
        plan.edges.push_back({flow_of(sender, 1 - sender), kFlows + 1 - sender, -1});
    }
    const memo::Digest digest = memo::canonical_form(built(plan)).digest;
    Draw draw(3);
    for (int i = 0; i < 200; ++i) {
        CHECK(memo::canonical_form(built(renumbered(plan, draw))).digest == digest);
    }
}

TEST_CASE("unit.memo.renumbered_graphs_have_one_form") {
    Draw draw(1);
    for (int graph = 0; graph < 100; ++graph) check_renumberings(random_plan(draw), draw, 10);
    for (int graph = 0; graph < 40; ++graph) check_renumberings(rings(draw), draw, 10);
}

TEST_CASE("unit.memo.one_graph_renumbered_a_thousand_times") {
    Draw draw(2);
    Plan plan = random_plan(draw);
    while (plan.edges.size() < 40) plan = random_plan(draw);
    check_renumberings(plan, draw, 1000);
}

TEST_CASE("unit.memo.small_differences_show") {
    Draw draw(3);
    for (int i = 0; i < 300; ++i) {
        Plan plan = random_plan(draw);
        // A direction shows only between different ends, and only where the other is not there.
        plan.colours.push_back({7});
        const auto last = static_cast<std::uint32_t>(plan.colours.size() - 1);
        plan.edges.push_back({0, last, 3});
        const memo::Digest digest = memo::canonical_form(built(plan)).digest;
        const auto differs = [&](const std::function<void(Plan&)>& change) {
            Plan other = plan;
            change(other);
            other = renumbered(other, draw);
            CHECK(memo::canonical_form(built(other)).digest != digest);
            CHECK(memo::refinement(built(other)) != memo::refinement(built(plan)));
        };
        differs([&](Plan& other) { other.words.push_back(0); });
        differs([&](Plan& other) { other.words[0] += 1; });
        differs([&](Plan& other) { other.colours[draw.below(last)].back() = 5; });
        differs([&](Plan& other) { other.colours[draw.below(last)].push_back(0); });
        differs([&](Plan& other) { other.edges.back().label = 4; });
        differs([&](Plan& other) { std::swap(other.edges.back().from, other.edges.back().to); });
        differs([&](Plan& other) { other.edges.pop_back(); });
        differs([&](Plan& other) { other.edges.push_back(other.edges.back()); });
        differs([&](Plan& other) { other.colours.push_back({0, -1}); });
    }
}

TEST_CASE("unit.memo.two_triangles_are_no_hexagon") {
    Plan hexagon;
    Plan triangles;
    hexagon.colours.resize(6);
    triangles.colours.resize(6);
    for (std::uint32_t i = 0; i < 6; ++i) {
        both_ways(hexagon, i, (i + 1) % 6);
        both_ways(triangles, i, i / 3 * 3 + (i + 1) % 3);
    }
    check_twins(hexagon, triangles);
}

TEST_CASE("unit.memo.directions_within_a_colour_show") {
    // Every vertex has one edge in and one out in both; only the ways around differ.
    Plan around;
    Plan apart;
    around.colours.resize(6);
    apart.colours.resize(6);
    for (std::uint32_t i = 0; i < 6; ++i) {
        around.edges.push_back({i, (i + 1) % 6, 0});
        apart.edges.push_back({i, i / 3 * 3 + (i + 1) % 3, 0});
    }
    check_twins(around, apart);
    // A vertex joined with itself is not one joined with its like.
    Plan loops;
    Plan pair;
    loops.colours.resize(2);
    pair.colours.resize(2);
    loops.edges = {{0, 0, 0}, {1, 1, 0}};
    pair.edges = {{0, 1, 0}, {1, 0, 0}};
    CHECK(memo::canonical_form(built(loops)).digest != memo::canonical_form(built(pair)).digest);
}

TEST_CASE("unit.memo.rook_and_shrikhande_differ") {
    // Strongly regular, both with parameters (16, 6, 2, 2).
    const Plan rook = torus([](std::uint32_t x, std::uint32_t y) { return x == 0 || y == 0; });
    const Plan shrikhande = torus([](std::uint32_t x, std::uint32_t y) {
        const auto unit = [](std::uint32_t d) { return d == 1 || d == 3; };
        return (x == 0 && unit(y)) || (y == 0 && unit(x)) || (x == y && unit(x));
    });
    REQUIRE(rook.edges.size() == 96);
    REQUIRE(shrikhande.edges.size() == 96);
    check_twins(rook, shrikhande);
}

TEST_CASE("unit.memo.a_twist_of_gadgets_shows") { check_twins(gadgets(false), gadgets(true)); }

TEST_CASE("unit.memo.swapped_labels_show_where_colours_do_not_tell") {
    // A cube's 12 edges: three directions labelled as such, or one face's labels swapped. Every
    // vertex sees one edge of each label in both.
    Plan cube;
    Plan swapped;
    cube.colours.resize(8);
    swapped.colours.resize(8);
    for (std::uint32_t a = 0; a < 8; ++a) {
        for (std::uint32_t axis = 0; axis < 3; ++axis) {
            const std::uint32_t b = a ^ (1U << axis);
            const bool in_face = (a & 4) == 0 && axis < 2;
            cube.edges.push_back({a, b, axis});
            swapped.edges.push_back({a, b, in_face ? 1 - axis : axis});
        }
    }
    // Renaming the two axes of the face maps one onto the other only if both faces are renamed.
    Draw draw(6);
    check_renumberings(cube, draw, 100);
    check_renumberings(swapped, draw, 100);
    CHECK(memo::refinement(built(cube)) == memo::refinement(built(swapped)));
    CHECK(memo::canonical_form(built(cube)).digest != memo::canonical_form(built(swapped)).digest);
}

TEST_CASE("unit.memo.forms_depend_on_nothing_but_the_graph") {
    // Of a symmetric graph there are many canonical orders: which one is found must not depend on
    // what was asked before, nor on the thread.
    const auto answers = [] {
        std::vector<std::vector<std::uint32_t>> orders;
        orders.reserve(50);
        Draw draw(8);
        for (int i = 0; i < 50; ++i)
            orders.push_back(memo::canonical_form(built(rings(draw))).order);
        return orders;
    };
    const auto first = answers();
    std::vector<std::vector<std::vector<std::uint32_t>>> others(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < others.size(); ++i) {
        threads.emplace_back([&, i] {
            Draw draw(i);
            for (std::size_t k = 0; k < 5 * i; ++k) memo::canonical_form(built(rings(draw)));
            others[i] = answers();
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& other : others) CHECK(other == first);
    CHECK(answers() == first);
}

TEST_CASE("unit.memo.degenerate_graphs") {
    const memo::Digest empty = memo::canonical_form(ConflictGraph({})).digest;
    CHECK(memo::canonical_form(ConflictGraph({})).order.empty());
    CHECK(memo::canonical_form(ConflictGraph({0})).digest != empty);
    ConflictGraph alike({});
    for (int i = 0; i < 100; ++i) alike.add_vertex({});
    CHECK(memo::canonical_form(alike).order.size() == 100);
    CHECK_THROWS_AS(alike.add_edge(0, 100, 0), InternalError);
    CHECK_THROWS_AS(alike.add_edge(100, 0, 0), InternalError);
}
