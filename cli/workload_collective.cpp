// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "ring-all-reduce", "ring-reduce-scatter", "ring-all-gather", "all-to-all":
/// one collective, over all hosts or at the same time in each of several groups.
#include <fmt/core.h>

#include "cli/progress.h"
#include "cli/workload_part.h"
#include "core/error.h"
#include "workloads/collective/collectives.h"
#include "workloads/job/workload.h"

namespace sluice {

namespace {

constexpr Bytes kLargest{std::int64_t{1} << 50};
/// A step is a message of about 100 bytes of columns here and in the engine.
constexpr std::uint64_t kMostMessages = 50'000'000;

/// Which hosts make one group, in the order of the choices of `groups`.
enum class Grouping : std::uint8_t { all, rail, server };
constexpr const char* kGroupNames[] = {"all", "rail", "server"};

/// Ranks [0, hosts) in groups: all of them, those with one index in their servers, or those of one
/// server; with `size` > 0 each of these is cut into groups of `size` neighbours.
std::vector<std::vector<RankId>> make_groups(Grouping grouping, std::uint32_t hosts,
                                             std::uint32_t gpus_per_server, std::uint32_t size) {
    const std::uint32_t wholes = grouping == Grouping::all    ? 1
                                 : grouping == Grouping::rail ? gpus_per_server
                                                              : hosts / gpus_per_server;
    std::vector<std::vector<RankId>> groups;
    for (std::uint32_t whole = 0; whole < wholes; ++whole) {
        for (std::uint32_t member = 0; member < hosts / wholes; ++member) {
            if (member % (size > 0 ? size : hosts) == 0) groups.emplace_back();
            groups.back().push_back(grouping == Grouping::rail ? member * wholes + whole
                                                               : whole * (hosts / wholes) + member);
        }
    }
    return groups;
}

void check_groups(const std::string& type, const std::vector<std::vector<RankId>>& groups,
                  std::uint32_t size) {
    const std::uint64_t members = groups.front().size();
    if (members < 2) {
        throw ConfigError(type + " needs at least 2 hosts in a group, there are " +
                          std::to_string(members));
    }
    for (const std::vector<RankId>& group : groups) {
        if (size > 0 && group.size() != size) {
            throw ConfigError(type + ": group_size " + std::to_string(size) +
                              " does not divide the hosts of a group");
        }
    }
    const std::uint64_t steps = type == "ring-all-reduce" ? 2 : 1;
    const std::uint64_t messages = steps * groups.size() * members * (members - 1);
    if (messages > kMostMessages) {
        throw ConfigError(type + " over " + std::to_string(members) + " hosts takes " +
                          std::to_string(messages) + " messages; at most 50000000 are allowed");
    }
}

}  // namespace

MakeWorkload read_collective(ConfigSection& section, const Scenario& scenario, const JobSite& site,
                             const std::string& type) {
    const Topology& topology = scenario.topology;
    const Bytes size = section.bytes("size", Bytes{64'000'000}, {1}, kLargest);
    const auto grouping = static_cast<Grouping>(section.choice_index(
        "groups", kGroupNames[0], {std::begin(kGroupNames), std::end(kGroupNames)}));
    const auto group_size =
        static_cast<std::uint32_t>(section.integer("group_size", 0, 0, 1'000'000'000));
    AllToAllOptions options;
    if (type == "all-to-all") {
        options.window = static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    }
    return [=, &topology] {
        const auto hosts = static_cast<std::uint32_t>(site.available());
        const auto groups = make_groups(grouping, hosts, topology.gpus_per_server, group_size);
        check_groups(type, groups, group_size);
        JobGraph graph(hosts);
        std::uint32_t number = 0;
        const OpClass cls = grouping == Grouping::server ? OpClass::tp : OpClass::dp;
        for (const std::vector<RankId>& ranks : groups) {
            const Members members{ranks, std::vector<OpId>(ranks.size(), kNone)};
            const CollectiveSpec spec{
                type, kGroupNames[static_cast<int>(grouping)] + std::to_string(number++), cls,
                size.count};
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
        Workload workload = make_workload(std::move(graph), site.take(hosts));
        WorkloadPart part;
        part.flows = std::move(workload.flows);
        part.application = std::move(workload.application);
        part.description = fmt::format("{} of {}B over {} hosts in {} {}", type,
                                       human_count(static_cast<double>(size.count)), hosts,
                                       groups.size(), groups.size() == 1 ? "group" : "groups");
        return part;
    };
}

}  // namespace sluice
