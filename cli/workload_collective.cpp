// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "collective", and by one algorithm over the network "ring-all-reduce",
/// "ring-reduce-scatter", "ring-all-gather", "all-to-all": one collective, over all hosts or at the
/// same time in each of several groups.
#include <algorithm>

#include <fmt/core.h>

#include "cli/data_folders.h"
#include "cli/progress.h"
#include "cli/workload_part.h"
#include "core/error.h"
#include "workloads/collective/collective_library.h"
#include "workloads/job/workload.h"
#include "workloads/model/gpu.h"

namespace sluice {

namespace {

constexpr Bytes kLargest{std::int64_t{1} << 50};
/// Of a collective that NCCL runs by ring or tree with its Simple protocol, before anything is sent
/// (the base latency of NCCL's tuning tables).
constexpr Tick kCollectiveOverhead = 8'400 * kNanosecond;

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
    const std::size_t members = groups.front().size();
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
}

/// Of the types that are one algorithm.
void check_messages(const std::string& type, const std::vector<std::vector<RankId>>& groups) {
    const std::uint64_t members = groups.front().size();
    const std::uint64_t steps = type == "ring-all-reduce" ? 2 : 1;
    const std::uint64_t messages = steps * groups.size() * members * (members - 1);
    if (messages > kMostMessages) {
        throw ConfigError(type + " over " + std::to_string(members) + " hosts takes " +
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

    std::vector<std::vector<RankId>> make(const std::string& type, std::uint32_t hosts,
                                          std::uint32_t gpus_per_server) const {
        std::vector<std::vector<RankId>> groups =
            make_groups(grouping, hosts, gpus_per_server, size);
        check_groups(type, groups, size);
        return groups;
    }
    CollectiveSpec spec(const std::string& name, std::size_t number, Bytes bytes) const {
        return {name, kGroupNames[static_cast<int>(grouping)] + std::to_string(number),
                grouping == Grouping::server ? OpClass::tp : OpClass::dp, bytes.count};
    }
};

WorkloadPart make_part(JobGraph graph, const std::vector<NodeId>& hosts, const std::string& what,
                       Bytes size, std::size_t groups) {
    graph.finish();
    const RankId ranks = graph.rank_count();
    Workload workload = make_workload(std::move(graph), hosts);
    WorkloadPart part;
    part.flows = std::move(workload.flows);
    part.application = std::move(workload.application);
    part.description = fmt::format("{} of {}B over {} hosts in {} {}", what,
                                   human_count(static_cast<double>(size.count)), ranks, groups,
                                   groups == 1 ? "group" : "groups");
    return part;
}

MakeWorkload read_fixed(ConfigSection& section, const Scenario& scenario, const JobSite& site,
                        const std::string& type) {
    const Topology& topology = scenario.topology;
    const Bytes size = section.bytes("size", Bytes{64'000'000}, {1}, kLargest);
    const Groups grouping(section);
    AllToAllOptions options;
    if (type == "all-to-all") {
        options.window = static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    }
    return [=, &topology] {
        const auto hosts = static_cast<std::uint32_t>(site.available());
        const auto groups = grouping.make(type, hosts, topology.gpus_per_server);
        check_messages(type, groups);
        JobGraph graph(hosts);
        std::size_t number = 0;
        for (const std::vector<RankId>& ranks : groups) {
            const Members members{ranks, std::vector<OpId>(ranks.size(), kNone)};
            const CollectiveSpec spec = grouping.spec(type, number++, size);
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
        return make_part(std::move(graph), site.take(hosts), type, size, groups.size());
    };
}

template <typename Value>
Value read_name(ConfigSection& section, const char* key, std::size_t count, Value fallback) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Value>(i)));
    return static_cast<Value>(section.choice_index(key, to_string(fallback), names));
}

bool has_nvswitch(const Topology& topology) {
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) return true;
    }
    return false;
}

CollectiveOptions read_options(ConfigSection& section, const Scenario& scenario) {
    CollectiveOptions options;
    options.channels = static_cast<std::uint32_t>(section.integer("channels", 1, 1, 1024));
    options.ring_order = section.choice("ring_order", RingOrder::given,
                                        {{"given", RingOrder::given}, {"rail", RingOrder::rail}});
    options.chunk = kUsualChunk;
    if (section.has("chunk")) {
        options.chunk = section.bytes("chunk", std::nullopt, {0}, kLargest).count;
    }
    options.overhead = section.time("overhead", kCollectiveOverhead);
    options.step_overhead = section.time("step_overhead", 0);
    options.window = static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    options.computed_in_server = section.choice("intra_node", !has_nvswitch(scenario.topology),
                                                {{"computed", true}, {"network", false}});
    const Gpu gpu = read_gpu(section, "gpu", "A100", data_folders("gpus"),
                             [&](const std::string& file) { return scenario.resolve(file); });
    const std::string interconnect = section.text("interconnect", "nvlink");
    try {
        options.intra_node = gpu.intra_node(interconnect);
    } catch (const ConfigError& error) {
        section.fail("interconnect", error.what());
    }
    options.server_hop = section.time("server_hop", options.server_hop);
    const Interconnect* nvls = gpu.find_interconnect("nvls");
    if (nvls != nullptr) options.nvls = nvls->calibration;
    return options;
}

/// Where the job's ranks are.
void locate(CollectiveOptions& options, const Topology& topology,
            const std::vector<NodeId>& hosts) {
    std::vector<std::uint32_t> places(topology.node_count(), 0);
    std::uint32_t next = 0;
    for (const NodeId host : topology.hosts()) places[host] = next++;
    std::vector<std::uint32_t> of_rank;
    of_rank.reserve(hosts.size());
    for (const NodeId host : hosts) of_rank.push_back(places[host]);
    const std::uint32_t gpus = topology.gpus_per_server;
    options.server = [of_rank, gpus](RankId rank) { return of_rank[rank] / gpus; };
    options.rail = [of_rank, gpus](RankId rank) { return of_rank[rank] % gpus; };
}

MakeWorkload read_by_algorithm(ConfigSection& section, const Scenario& scenario,
                               const JobSite& site) {
    const Topology& topology = scenario.topology;
    const auto kind = read_name(section, "kind", kCollectiveKinds, CollectiveKind::all_reduce);
    const auto algorithm =
        read_name(section, "algorithm", kCollectiveAlgorithms, CollectiveAlgorithm::automatic);
    const Bytes size = section.bytes("size", Bytes{64'000'000}, {1}, kLargest);
    const Groups grouping(section);
    const CollectiveOptions common = read_options(section, scenario);
    return [=, &topology] {
        const auto hosts = static_cast<std::uint32_t>(site.available());
        const auto groups = grouping.make("collective", hosts, topology.gpus_per_server);
        const std::vector<NodeId> placed = site.take(hosts);
        CollectiveOptions options = common;
        locate(options, topology, placed);
        JobGraph graph(hosts);
        CollectiveLibrary library(graph, std::move(options));
        std::size_t number = 0;
        for (const std::vector<RankId>& ranks : groups) {
            library.add(kind, grouping.spec(to_string(kind), number++, size),
                        {ranks, std::vector<OpId>(ranks.size(), kNone)}, algorithm);
        }
        const std::string what = fmt::format("{} ({})", to_string(kind), to_string(algorithm));
        return make_part(std::move(graph), placed, what, size, groups.size());
    };
}

}  // namespace

MakeWorkload read_collective(ConfigSection& section, const Scenario& scenario, const JobSite& site,
                             const std::string& type) {
    if (type == "collective") return read_by_algorithm(section, scenario, site);
    return read_fixed(section, scenario, site, type);
}

}  // namespace sluice
