// SPDX-License-Identifier: Apache-2.0
/// Random job graphs of every kind of operation.
#pragma once

#include <vector>

#include "core/job/job_graph.h"
#include "core/random.h"

namespace sluice {

/// For engines whose lookahead is at most 1 us. Compute, messages, meetings and tasks in random order, with communication that slows compute.
inline JobGraph random_job(RankId ranks, std::uint64_t seed) {
    JobGraph graph(ranks);
    graph.set_overlap_slowdown(uniform_below(seed, 9, 0, 2) * 370'000);
    const Label work = {graph.intern("work"), OpClass::compute, kNone};
    const Label talk = {graph.intern("talk"), OpClass::tp, kNone};
    std::vector<OpId> tail(ranks, kNone);
    for (std::uint32_t step = 0; step < 30 * ranks; ++step) {
        const RankId a = uniform_below(seed, 0, step, ranks);
        const RankId b = (a + 1 + uniform_below(seed, 1, step, ranks - 1)) % ranks;
        const std::uint32_t size = 1 + uniform_below(seed, 2, step, 20'000);
        const bool joined = uniform_below(seed, 4, step, 3) != 0;
        switch (uniform_below(seed, 3, step, 5)) {
            case 0: {
                const OpId op = graph.add_compute(a, size * 100, work);
                graph.add_dependency(op, tail[a]);
                if (joined) tail[a] = op;
                break;
            }
            case 1: {
                const OpId op = graph.add_task(a, size % 2, size * 50, work);
                graph.add_dependency(op, tail[a]);
                if (joined) tail[a] = op;
                break;
            }
            case 2: {
                std::vector<RankId> members = {a};
                for (RankId r = 0; r < ranks; ++r) {
                    if (r != a && uniform_below(seed, 5 + r, step, 2) == 0) members.push_back(r);
                }
                const OpId first = graph.add_meet(members, 2 * kMicrosecond + size, talk);
                for (std::size_t i = 0; i < members.size(); ++i) {
                    const OpId part = first + static_cast<OpId>(i);
                    graph.add_dependency(part, tail[members[i]]);
                    tail[members[i]] = part;
                }
                break;
            }
            case 3: {
                const OpId take = graph.add_acquire(a, 1, talk);
                const OpId hold = graph.add_delay(a, size, talk);
                const OpId free = graph.add_release(a, 1, talk);
                graph.add_dependency(take, tail[a]);
                graph.add_dependency(hold, take);
                graph.add_dependency(free, hold);
                if (joined) tail[a] = free;
                break;
            }
            default: {
                const JobGraph::Pair pair = graph.add_message(a, b, size, talk);
                graph.add_dependency(pair.from, tail[a]);
                graph.add_dependency(pair.to, tail[b]);
                tail[b] = pair.to;
            }
        }
    }
    graph.finish();
    return graph;
}

}  // namespace sluice
