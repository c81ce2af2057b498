// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "ring-all-reduce", "ring-reduce-scatter", "ring-all-gather", "all-to-all":
/// one collective, over all hosts or once per rail at the same time.
#include <fmt/core.h>

#include "cli/progress.h"
#include "cli/workload_part.h"
#include "core/error.h"
#include "workloads/collectives.h"
#include "workloads/workload.h"

namespace sluice {

namespace {

constexpr Bytes kLargest{std::int64_t{1} << 50};
/// A step is a message of about 100 bytes of columns here and in the engine.
constexpr std::uint64_t kMostMessages = 50'000'000;

/// Ranks [0, hosts) in groups: all of them, or those with one index in their servers.
std::vector<std::vector<RankId>> make_groups(std::size_t hosts, std::uint32_t groups) {
    std::vector<std::vector<RankId>> members(groups);
    for (RankId rank = 0; rank < hosts; ++rank) members[rank % groups].push_back(rank);
    return members;
}

void check_size(const std::string& type, std::size_t members, std::uint32_t groups) {
    if (members < 2) {
        throw ConfigError(type + " needs at least 2 hosts in a group, there are " +
                          std::to_string(members));
    }
    const std::uint64_t steps = type == "ring-all-reduce" ? 2 : 1;
    const std::uint64_t messages = steps * groups * members * (members - 1);
    if (messages > kMostMessages) {
        throw ConfigError(type + " over " + std::to_string(members) + " hosts takes " +
                          std::to_string(messages) + " messages; at most 50000000 are allowed");
    }
}

}  // namespace

MakeWorkload read_collective(ConfigSection& section, const Scenario& scenario,
                             const std::string& type) {
    const Topology& topology = scenario.topology;
    const Bytes size = section.bytes("size", Bytes{64'000'000}, {1}, kLargest);
    const bool per_rail = section.choice_index("groups", "all", {"all", "rail"}) == 1;
    const std::uint32_t groups = per_rail ? topology.gpus_per_server : 1;
    AllToAllOptions options;
    if (type == "all-to-all") {
        options.window = static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    }
    return [=, &topology] {
        const std::size_t hosts = topology.host_count();
        check_size(type, hosts / groups, groups);
        JobGraph graph(static_cast<RankId>(hosts));
        std::uint32_t number = 0;
        for (const std::vector<RankId>& ranks : make_groups(hosts, groups)) {
            const Members members{ranks, std::vector<OpId>(ranks.size(), kNone)};
            const CollectiveSpec spec{type, (per_rail ? "rail" : "all") + std::to_string(number++),
                                      OpClass::dp, size.count};
            if (type == "ring-all-reduce") {
                ring_all_reduce(graph, spec, members);
            } else if (type == "ring-reduce-scatter") {
                ring_reduce_scatter(graph, spec, members);
            } else if (type == "ring-all-gather") {
                ring_all_gather(graph, spec, members);
            } else {
                all_to_all(graph, spec, members, options);
            }
        }
        graph.finish();
        Workload workload = make_workload(std::move(graph), topology.hosts());
        WorkloadPart part;
        part.flows = std::move(workload.flows);
        part.application = std::move(workload.application);
        part.description = fmt::format("{} of {}B over {} hosts in {} {}", type,
                                       human_count(static_cast<double>(size.count)), hosts, groups,
                                       groups == 1 ? "group" : "groups");
        return part;
    };
}

}  // namespace sluice
