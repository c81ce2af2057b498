// SPDX-License-Identifier: Apache-2.0
/// What the canonical form of a situation costs, and that it is one: each case is built with its
/// vertices in several orders, and all must have one digest. Prints a line of JSON a case: vertices,
/// edges, microseconds of the refinement alone and of the whole form (building the graph is not
/// counted), both the median of `repeats`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/memo/canonical_form.h"
#include "core/random.h"

namespace {

using namespace sluice;
using memo::ConflictGraph;

/// Flows by the ports that they go through; a flow's size, or 0 for all the same.
struct Case {
    std::string name;
    std::size_t ports = 0;
    std::vector<std::vector<std::size_t>> flows;
    std::vector<std::int64_t> sizes;
};

ConflictGraph graph_of(const Case& cases, std::uint64_t seed) {
    const std::size_t count = cases.flows.size() + cases.ports;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; seed != 0 && i > 1; --i) {
        const auto bound = static_cast<std::uint32_t>(i);
        std::swap(order[i - 1], order[uniform_below(seed, 0, i, bound)]);
    }
    std::vector<std::uint32_t> vertex(count);
    ConflictGraph graph({1, 2, 3});
    for (const std::size_t one : order) {
        const bool flow = one < cases.flows.size();
        vertex[one] = flow ? graph.add_vertex({0, 100'000'000'000, cases.sizes[one]})
                           : graph.add_vertex({1, 100'000'000'000});
    }
    for (std::size_t flow = 0; flow < cases.flows.size(); ++flow) {
        for (std::size_t hop = 0; hop < cases.flows[flow].size(); ++hop) {
            graph.add_edge(vertex[flow], vertex[cases.flows.size() + cases.flows[flow][hop]],
                           static_cast<std::int64_t>(hop));
        }
    }
    return graph;
}

double median_microseconds(int repeats, const std::function<void()>& work) {
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - begin;
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

bool measure(const Case& one, int repeats) {
    const ConflictGraph graph = graph_of(one, 0);
    const memo::Digest digest = memo::canonical_form(graph).digest;
    bool same = true;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        same = same && memo::canonical_form(graph_of(one, seed)).digest == digest;
    }
    const double refined = median_microseconds(repeats, [&] { memo::refinement(graph); });
    const double whole = median_microseconds(repeats, [&] { memo::canonical_form(graph); });
    std::printf(
        "{\"case\": \"%s\", \"vertices\": %u, \"edges\": %zu, \"refinement_us\": %.1f, "
        "\"form_us\": %.1f, \"same_digest\": %s}\n",
        one.name.c_str(), graph.vertex_count(), graph.edges().size(), refined, whole,
        same ? "true" : "false");
    return same;
}

/// One flow through `hops` ports.
Case lone(std::size_t hops) {
    Case one{"one flow", hops, {{}}, {1 << 20}};
    one.flows[0].resize(hops);
    std::iota(one.flows[0].begin(), one.flows[0].end(), std::size_t{0});
    return one;
}

/// `flows` through random ports, six each; sizes are different or the same.
Case random_paths(std::size_t flows, std::size_t ports, bool sizes) {
    Case one{sizes ? "random paths, sizes" : "random paths", ports, {}, {}};
    for (std::size_t flow = 0; flow < flows; ++flow) {
        std::vector<std::size_t> path;
        for (std::uint64_t hop = 0; hop < 6; ++hop) {
            path.push_back(uniform_below(7, flow, hop, static_cast<std::uint32_t>(ports)));
        }
        one.flows.push_back(std::move(path));
        one.sizes.push_back(sizes ? static_cast<std::int64_t>(flow) : 0);
    }
    return one;
}

/// All-to-all of `hosts` below one switch: from a host's port to a switch's.
Case all_to_all(std::size_t hosts) {
    Case one{"all-to-all", 2 * hosts, {}, {}};
    for (std::size_t from = 0; from < hosts; ++from) {
        for (std::size_t to = 0; to < hosts; ++to) {
            if (from != to) one.flows.push_back({from, hosts + to});
        }
    }
    one.sizes.assign(one.flows.size(), 0);
    return one;
}

/// Rings of `hosts` each: every host sends to the next.
Case rings(std::size_t count, std::size_t hosts) {
    Case one{"rings", 2 * count * hosts, {}, {}};
    for (std::size_t host = 0; host < count * hosts; ++host) {
        const std::size_t first = host / hosts * hosts;
        one.flows.push_back({host, count * hosts + first + (host - first + 1) % hosts});
    }
    one.sizes.assign(one.flows.size(), 0);
    // Different ends make the ring one situation: each host's ports belong together.
    for (std::size_t host = 0; host < count * hosts; ++host) {
        one.flows[host].push_back(host / hosts * hosts + (host % hosts + 1) % hosts);
    }
    return one;
}

}  // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::atoi(argv[1]) : 101;
    bool same = true;
    for (const Case& one : {lone(6), random_paths(56, 60, true), random_paths(56, 60, false),
                            rings(1, 8), rings(8, 8), rings(1, 500), all_to_all(8), all_to_all(32),
                            all_to_all(44), random_paths(1000, 1000, false)}) {
        same = measure(one, one.flows.size() > 500 ? (repeats + 9) / 10 : repeats) && same;
    }
    return same ? 0 : 1;
}
