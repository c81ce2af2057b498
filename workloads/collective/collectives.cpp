// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/collectives.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {

namespace {

/// Bytes of part `part` of n, at least 1.
std::int64_t part_bytes(std::int64_t total, std::size_t n, std::size_t part) {
    const auto count = static_cast<std::int64_t>(n);
    const std::int64_t more = static_cast<std::int64_t>(part) < total % count ? 1 : 0;
    return std::max<std::int64_t>(1, total / count + more);
}

void check(const CollectiveSpec& spec, const Members& members) {
    if (members.ranks.empty() || members.ranks.size() != members.after.size()) {
        throw InternalError("a collective needs members, each with an operation to start after");
    }
    if (spec.bytes < 1) {
        throw ConfigError("collective \"" + spec.name + "\" has " + std::to_string(spec.bytes) +
                          " bytes: it must have at least 1");
    }
    std::vector<RankId> sorted = members.ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        throw ConfigError("collective \"" + spec.name + "\" lists rank " + std::to_string(*twice) +
                          " twice: members must differ");
    }
}

Label label_instance(JobGraph& graph, const CollectiveSpec& spec, std::size_t members) {
    Collective collective;
    collective.name = graph.intern(spec.name);
    collective.group = graph.intern(spec.group);
    collective.cls = spec.cls;
    collective.members = static_cast<std::uint32_t>(members);
    collective.bytes = spec.bytes;
    return {collective.name, spec.cls, graph.add_collective(collective)};
}

/// n - 1 ring steps. In step s member i sends part (i + first_part - s) mod n.
std::vector<OpId> ring_steps(JobGraph& graph, std::int64_t bytes, Label label,
                             const Members& members, std::size_t first_part) {
    const std::size_t n = members.ranks.size();
    std::vector<OpId> done = members.after;
    for (std::size_t step = 0; step + 1 < n; ++step) {
        std::vector<OpId> received(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t next = (i + 1) % n;
            const std::size_t part = (i + first_part + n - step) % n;
            const JobGraph::Pair message = graph.add_message(members.ranks[i], members.ranks[next],
                                                             part_bytes(bytes, n, part), label);
            graph.add_dependency(message.from, done[i]);
            graph.add_dependency(message.to, done[next]);
            received[next] = message.to;
        }
        done = std::move(received);
    }
    return done;
}

}  // namespace

std::vector<OpId> ring_reduce_scatter(JobGraph& graph, const CollectiveSpec& spec,
                                      const Members& members) {
    check(spec, members);
    if (members.ranks.size() == 1) return members.after;
    const Label label = label_instance(graph, spec, members.ranks.size());
    return ring_steps(graph, spec.bytes, label, members, 0);
}

std::vector<OpId> ring_all_gather(JobGraph& graph, const CollectiveSpec& spec,
                                  const Members& members) {
    check(spec, members);
    if (members.ranks.size() == 1) return members.after;
    const Label label = label_instance(graph, spec, members.ranks.size());
    return ring_steps(graph, spec.bytes, label, members, 1);
}

std::vector<OpId> ring_all_reduce(JobGraph& graph, const CollectiveSpec& spec,
                                  const Members& members) {
    check(spec, members);
    if (members.ranks.size() == 1) return members.after;
    const Label label = label_instance(graph, spec, members.ranks.size());
    Members second = members;
    second.after = ring_steps(graph, spec.bytes, label, members, 0);
    return ring_steps(graph, spec.bytes, label, second, 1);
}

std::vector<OpId> all_to_all(JobGraph& graph, const CollectiveSpec& spec, const Members& members,
                             const AllToAllOptions& options) {
    check(spec, members);
    const std::size_t n = members.ranks.size();
    if (n == 1) return members.after;
    const Label label = label_instance(graph, spec, n);
    std::vector<std::vector<OpId>> received(n);
    std::vector<OpId> sends;
    for (std::size_t i = 0; i < n; ++i) {
        sends.clear();
        for (std::size_t step = 1; step < n; ++step) {
            const std::size_t peer = (i + step) % n;
            const RankId from = members.ranks[i];
            const RankId to = members.ranks[peer];
            const std::int64_t bytes = part_bytes(spec.bytes, n, peer);
            const Tick analytic = options.analytic ? options.analytic(from, to, bytes) : -1;
            const JobGraph::Pair pair = analytic >= 0 ? graph.add_signal(from, to, analytic, label)
                                                      : graph.add_message(from, to, bytes, label);
            graph.add_dependency(pair.from, members.after[i]);
            graph.add_dependency(pair.to, members.after[peer]);
            received[peer].push_back(pair.to);
            if (analytic >= 0) continue;
            if (options.window > 0 && sends.size() >= options.window) {
                graph.add_dependency(pair.from, sends[sends.size() - options.window]);
            }
            sends.push_back(pair.from);
        }
    }
    std::vector<OpId> done(n);
    for (std::size_t i = 0; i < n; ++i) {
        done[i] = graph.add_delay(members.ranks[i], 0, label);
        for (const OpId op : received[i]) graph.add_dependency(done[i], op);
    }
    return done;
}

JobGraph::Pair point_to_point(JobGraph& graph, const CollectiveSpec& spec, RankId from, RankId to,
                              OpId after, OpId ready) {
    check(spec, {{from, to}, {after, ready}});
    const Label label = label_instance(graph, spec, 2);
    const JobGraph::Pair pair = graph.add_message(from, to, spec.bytes, label);
    graph.add_dependency(pair.from, after);
    graph.add_dependency(pair.to, ready);
    return pair;
}

}  // namespace sluice
