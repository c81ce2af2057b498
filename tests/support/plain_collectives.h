// SPDX-License-Identifier: Apache-2.0
/// Collectives in whole steps, once, over the network, without software: what closed forms are of.
#pragma once

#include <vector>

#include "workloads/collective/collective_library.h"

namespace sluice::plain {

inline std::vector<OpId> add(JobGraph& graph, CollectiveKind kind, CollectiveAlgorithm algorithm,
                             const CollectiveSpec& spec, const Members& members,
                             std::uint32_t window = 0) {
    CollectiveOptions options;
    options.computed_in_server = false;
    options.channels = 1;
    options.window = window;
    return CollectiveLibrary(graph, options).add(kind, spec, members, algorithm);
}

inline std::vector<OpId> ring_reduce_scatter(JobGraph& graph, const CollectiveSpec& spec,
                                             const Members& members) {
    return add(graph, CollectiveKind::reduce_scatter, CollectiveAlgorithm::ring, spec, members);
}

inline std::vector<OpId> ring_all_gather(JobGraph& graph, const CollectiveSpec& spec,
                                         const Members& members) {
    return add(graph, CollectiveKind::all_gather, CollectiveAlgorithm::ring, spec, members);
}

inline std::vector<OpId> ring_all_reduce(JobGraph& graph, const CollectiveSpec& spec,
                                         const Members& members) {
    return add(graph, CollectiveKind::all_reduce, CollectiveAlgorithm::ring, spec, members);
}

/// `window`: unfinished sends of a member; 0: all.
inline std::vector<OpId> all_to_all(JobGraph& graph, const CollectiveSpec& spec,
                                    const Members& members, std::uint32_t window = 0) {
    return add(graph, CollectiveKind::all_to_all, CollectiveAlgorithm::direct, spec, members,
               window);
}

inline JobGraph::Pair point_to_point(JobGraph& graph, const CollectiveSpec& spec, RankId from,
                                     RankId to, OpId after, OpId ready = kNone) {
    CollectiveOptions options;
    options.computed_in_server = false;
    return CollectiveLibrary(graph, options).add_point_to_point(spec, from, to, after, ready);
}

}  // namespace sluice::plain
