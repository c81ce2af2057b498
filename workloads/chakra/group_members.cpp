// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/group_members.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace sluice::chakra {

void check_world(const std::vector<Group>& groups, std::size_t ranks, ImportReport& report) {
    for (const Group& group : groups) {
        if (group.name != "0") continue;
        const std::set<std::uint32_t> listed(group.ranks.begin(), group.ranks.end());
        if (listed.size() == ranks && *listed.rbegin() == ranks - 1) continue;
        report.misfit("comm_group", "0 stands for all ranks, 0 to " + std::to_string(ranks - 1) +
                                        ", and does not list them: number groups from 1");
    }
}

std::optional<std::vector<RankId>> group_members(const Trace& trace, RankId rank,
                                                 std::uint32_t node, std::size_t ranks,
                                                 const std::vector<Group>& groups,
                                                 ImportReport& report) {
    const Communication& comm = trace.communication(node);
    std::vector<RankId> world(ranks);
    std::iota(world.begin(), world.end(), 0);
    if (comm.group == kNone) return world;
    const std::string& name = trace.group_names()[comm.group];
    const Group* found = nullptr;
    for (const Group& group : groups) {
        if (group.name == name) found = &group;
    }
    for (const Group& group : trace.groups()) {
        if (group.name == name) found = &group;
    }
    if (found == nullptr) {
        report.misfit(trace.where(node), "belongs to group " + name +
                                             ", which neither the trace's METADATA nor a "
                                             "comm_group file defines");
        return std::nullopt;
    }
    if (found->ranks.empty()) return world;
    bool member = false;
    for (const RankId other : found->ranks) {
        member = member || other == rank;
        if (other < ranks) continue;
        report.misfit(trace.where(node), "belongs to group " + name + ", which has rank " +
                                             std::to_string(other) + ": the ranks are 0 to " +
                                             std::to_string(ranks - 1));
        return std::nullopt;
    }
    std::vector<RankId> sorted = found->ranks;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        report.misfit(trace.where(node), "belongs to group " + name + ", which lists a rank twice");
        return std::nullopt;
    }
    if (!member) {
        report.misfit(trace.where(node), "belongs to group " + name + ", which rank " +
                                             std::to_string(rank) + " is not a member of");
        return std::nullopt;
    }
    return found->ranks;
}

}  // namespace sluice::chakra
