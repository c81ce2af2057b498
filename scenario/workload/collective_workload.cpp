// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "collective", and by one algorithm over the network "ring-all-reduce",
/// "ring-reduce-scatter", "ring-all-gather", "all-to-all": one collective, over all hosts or at the
/// same time in each of several groups.
#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>

#include "core/error.h"
#include "core/job/workload.h"
#include "core/text/human.h"
#include "scenario/workload/collective_options.h"
#include "scenario/workload/workload_part.h"
#include "workloads/collective/collective_library.h"
#include "workloads/training/rank_places.h"

namespace sluice {

namespace {

/// Which hosts make one group, in the order of the choices of `groups`.
enum class Grouping : std::uint8_t { all, rail, server };
constexpr const char* kGroupNames[] = {"all", "rail", "server"};

/// Ranks in groups: all of them, those on one rail, or those of one server, by where they are, the
/// first rank's group first; with `size` > 0 each of these is cut into groups of `size` neighbours.
std::vector<std::vector<RankId>> make_groups(Grouping grouping, const RankPlaces& places,
                                             std::uint32_t size) {
    std::vector<std::vector<RankId>> wholes;
    std::unordered_map<std::uint32_t, std::size_t> number;
    for (RankId rank = 0; rank < places.server.size(); ++rank) {
        const std::uint32_t whole = grouping == Grouping::all    ? 0
                                    : grouping == Grouping::rail ? places.rail[rank]
                                                                 : places.server[rank];
        const std::size_t at = number.try_emplace(whole, wholes.size()).first->second;
        if (at == wholes.size()) wholes.emplace_back();
        wholes[at].push_back(rank);
    }
    if (size == 0) return wholes;
    std::vector<std::vector<RankId>> groups;
    for (const std::vector<RankId>& whole : wholes) {
        for (std::size_t member = 0; member < whole.size(); ++member) {
            if (member % size == 0) groups.emplace_back();
            groups.back().push_back(whole[member]);
        }
    }
    return groups;
}

void check_groups(const std::string& type, const std::vector<std::vector<RankId>>& groups,
                  std::uint32_t size) {
    for (const std::vector<RankId>& group : groups) {
        if (size > 0 && group.size() != size) {
            throw ConfigError(type + ": group_size " + std::to_string(size) +
                              " does not divide the hosts of a group");
        }
        if (group.size() < 2) {
            throw ConfigError(type + " needs at least 2 hosts in a group, there are " +
                              std::to_string(group.size()));
        }
    }
}

/// Of the types that are one algorithm.
void check_messages(const std::string& type, const std::vector<std::vector<RankId>>& groups) {
    std::uint64_t messages = 0;
    std::uint64_t largest = 0;
    for (const std::vector<RankId>& group : groups) {
        const std::uint64_t members = group.size();
        largest = std::max(largest, members);
        messages += (type == "ring-all-reduce" ? 2 : 1) * members * (members - 1);
    }
    if (messages > kMostMessages) {
        throw ConfigError(type + " over " + std::to_string(largest) + " hosts takes " +
                          std::to_string(messages) + " messages; at most 50000000 are allowed");
    }
}

/// The groups of a collective: the keys groups and group_size.
struct Groups {
    Grouping grouping = Grouping::all;
    std::uint32_t size = 0;

    explicit Groups(ConfigSection& section)
        : grouping(static_cast<Grouping>(section.choice_index(
              "groups", kGroupNames[0], {std::begin(kGroupNames), std::end(kGroupNames)}))),
          size(static_cast<std::uint32_t>(section.integer("group_size", 0, 0, 1'000'000'000))) {}

    std::vector<std::vector<RankId>> make(const std::string& type, const RankPlaces& places) const {
        std::vector<std::vector<RankId>> groups = make_groups(grouping, places, size);
        check_groups(type, groups, size);
        return groups;
    }
    CollectiveSpec spec(const std::string& name, std::size_t number, Bytes bytes) const {
        return {name, kGroupNames[static_cast<int>(grouping)] + std::to_string(number),
                OpClass::collective, bytes.count};
    }
};

WorkloadPart make_part(JobGraph graph, const std::vector<NodeId>& hosts, const std::string& what,
                       Bytes size, std::size_t groups) {
    graph.finish();
    const RankId ranks = graph.rank_count();
    WorkloadPart part(make_workload(std::move(graph), hosts));
    part.description = fmt::format("{} of {}B over {} hosts in {} {}", what,
                                   human_count(static_cast<double>(size.count)), ranks, groups,
                                   groups == 1 ? "group" : "groups");
    return part;
}

CollectiveKind read_kind(ConfigSection& section) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kCollectiveKinds; ++i) {
        names.emplace_back(to_string(static_cast<CollectiveKind>(i)));
    }
    const std::string fallback = to_string(CollectiveKind::all_reduce);
    return static_cast<CollectiveKind>(section.choice_index("kind", fallback, names));
}

/// A collective as a table asks for it.
struct Choice {
    std::string name;   ///< of the operation in results
    std::string shown;  ///< for people
    CollectiveKind kind = CollectiveKind::all_reduce;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
    CollectiveOptions options;
};

/// type = "collective": everything is a key.
Choice read_choice(ConfigSection& section, const Scenario& scenario) {
    Choice choice;
    choice.kind = read_kind(section);
    choice.algorithm =
        section.choice("algorithm", CollectiveAlgorithm::automatic, collective_algorithm_words());
    choice.options = read_collective_options(section, scenario);
    choice.name = to_string(choice.kind);
    choice.shown = fmt::format("{} ({})", choice.name, to_string(choice.algorithm));
    return choice;
}

/// The types that are one algorithm: in whole steps, over the network, without software.
Choice fixed_choice(ConfigSection& section, const std::string& type) {
    Choice choice;
    choice.name = choice.shown = type;
    choice.kind = type == "ring-all-reduce"       ? CollectiveKind::all_reduce
                  : type == "ring-reduce-scatter" ? CollectiveKind::reduce_scatter
                  : type == "ring-all-gather"     ? CollectiveKind::all_gather
                                                  : CollectiveKind::all_to_all;
    const bool all_to_all = choice.kind == CollectiveKind::all_to_all;
    choice.algorithm = all_to_all ? CollectiveAlgorithm::direct : CollectiveAlgorithm::ring;
    choice.options.computed_in_server = false;
    choice.options.chunk = 0;
    if (all_to_all) {
        choice.options.window =
            static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    } else {
        choice.options.channels = read_channels(section);
        choice.options.ring_order = read_ring_order(section);
    }
    return choice;
}

MakeWorkload read_collective(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    const std::string& type = table.type;
    const Topology& topology = scenario.topology;
    const Bytes size = section.bytes("size", Bytes{64'000'000}, {1}, kLargestMessage);
    const Groups grouping(section);
    const Choice choice =
        type == "collective" ? read_choice(section, scenario) : fixed_choice(section, type);
    const std::uint32_t queue_pairs = read_queue_pairs(section);
    return [=, &topology] {
        const auto hosts = static_cast<std::uint32_t>(site.available());
        const std::vector<NodeId> placed = site.take(hosts);
        const auto groups = grouping.make(type, RankPlaces::on(topology, placed));
        if (type != "collective") check_messages(type, groups);
        CollectiveOptions options = choice.options;
        place_collectives(options, topology, placed, queue_pairs);
        JobGraph graph(hosts);
        CollectiveLibrary library(graph, std::move(options));
        std::size_t number = 0;
        for (const std::vector<RankId>& ranks : groups) {
            library.add(choice.kind, grouping.spec(choice.name, number++, size),
                        {ranks, std::vector<OpId>(ranks.size(), kNone)}, choice.algorithm);
        }
        return make_part(std::move(graph), placed, choice.shown, size, groups.size());
    };
}

}  // namespace

extern const WorkloadType kCollective{"collective", WorkloadKind::job, read_collective};
extern const WorkloadType kRingAllReduce{"ring-all-reduce", WorkloadKind::job, read_collective};
extern const WorkloadType kRingReduceScatter{"ring-reduce-scatter", WorkloadKind::job,
                                             read_collective};
extern const WorkloadType kRingAllGather{"ring-all-gather", WorkloadKind::job, read_collective};
extern const WorkloadType kAllToAll{"all-to-all", WorkloadKind::job, read_collective};

}  // namespace sluice
