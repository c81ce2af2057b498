// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_merge.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/random.h"

namespace sluice {

namespace {

/// Which job's rank each rank is; checks the mapping.
struct Owner {
    std::uint32_t job = kGoalAny;
    std::uint32_t rank = 0;
};

std::vector<Owner> owners(const std::vector<GoalSchedule>& jobs, const GoalMapping& mapping) {
    if (mapping.size() != jobs.size()) {
        throw ConfigError(
            fmt::format("pattern has {} jobs, there are {}", mapping.size(), jobs.size()));
    }
    std::vector<Owner> owners;
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
        if (mapping[job].size() != jobs[job].rank_count()) {
            throw ConfigError(fmt::format("pattern gives job {} {} ranks, it has {}", job,
                                          mapping[job].size(), jobs[job].rank_count()));
        }
        for (std::uint32_t rank = 0; rank < mapping[job].size(); ++rank) {
            const std::uint32_t target = mapping[job][rank];
            if (target >= kMostGoalRanks) throw ConfigError("pattern: rank too large");
            if (target >= owners.size()) owners.resize(target + std::size_t{1});
            Owner& owner = owners[target];
            if (owner.job != kGoalAny) {
                throw ConfigError(fmt::format("pattern gives rank {} to job {} and job {}", target,
                                              owner.job, job));
            }
            owner = {job, rank};
        }
    }
    return owners;
}

void copy_rank(const GoalSchedule& from, std::uint32_t rank,
               const std::vector<std::uint32_t>& mapping, GoalBuilder& to) {
    const GoalOp first = from.first(rank);
    for (GoalOp op = first; op < from.first(rank + 1); ++op) {
        GoalOperation copy{from.kind(op), from.peer(op), from.tag(op),
                           from.cpu(op),  from.nic(op),  from.size(op)};
        if (copy.kind != GoalKind::calc && copy.peer != kGoalAny) copy.peer = mapping[copy.peer];
        to.add(copy);
    }
    for (GoalOp op = first; op < from.first(rank + 1); ++op) {
        const GoalSchedule::Edges edges = from.edges(rank, op);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            to.add_edge(static_cast<std::uint32_t>(edges[i].op - first),
                        static_cast<std::uint32_t>(op - first), edges[i].start);
        }
    }
}

GoalMapping in_turn(const std::vector<std::uint32_t>& ranks) {
    GoalMapping mapping(ranks.size());
    std::uint32_t next = 0;
    for (bool more = true; more;) {
        more = false;
        for (std::size_t job = 0; job < ranks.size(); ++job) {
            if (mapping[job].size() == ranks[job]) continue;
            mapping[job].push_back(next++);
            more = true;
        }
    }
    return mapping;
}

}  // namespace

GoalMapping map_goal_jobs(GoalPattern pattern, const std::vector<std::uint32_t>& ranks,
                          std::uint64_t seed) {
    if (pattern == GoalPattern::round_robin) return in_turn(ranks);
    std::vector<std::uint32_t> order(std::accumulate(ranks.begin(), ranks.end(), std::size_t{0}));
    std::iota(order.begin(), order.end(), 0U);
    if (pattern == GoalPattern::random) {
        // Fisher and Yates, drawn by (seed, position).
        constexpr std::uint64_t stream = 0x676f616c;
        for (std::size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1],
                      order[uniform_below(seed, stream, i, static_cast<std::uint32_t>(i))]);
        }
    }
    GoalMapping mapping;
    auto at = order.begin();
    for (const std::uint32_t count : ranks) {
        mapping.emplace_back(at, at + count);
        at += count;
    }
    return mapping;
}

GoalSchedule merge_goal(const std::vector<GoalSchedule>& jobs, const GoalMapping& mapping) {
    GoalBuilder merged;
    for (const Owner& owner : owners(jobs, mapping)) {
        if (owner.job != kGoalAny) {
            copy_rank(jobs[owner.job], owner.rank, mapping[owner.job], merged);
        }
        merged.end_rank();
    }
    return merged.finish();
}

}  // namespace sluice
