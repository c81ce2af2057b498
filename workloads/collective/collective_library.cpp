// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/collective_library.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

using Algorithm = CollectiveAlgorithm;

/// Whether it is an algorithm that runs the kind, which automatic, nccl and computed are not.
bool is_able(Algorithm algorithm, CollectiveKind kind) {
    return algorithm != Algorithm::automatic && algorithm != Algorithm::nccl &&
           algorithm != Algorithm::computed && algorithm_type(algorithm).can_do(kind);
}

std::string allowed_names(CollectiveKind kind) {
    std::string names = "automatic, nccl, computed";
    for (const auto& [name, algorithm] : collective_algorithm_words()) {
        if (is_able(algorithm, kind)) names += std::string(", ") + name;
    }
    return names;
}

/// All members meet. Jobs have hundreds of thousands of these: nothing that a schedule needs is made.
std::vector<OpId> add_meeting(JobGraph& graph, const CollectiveSpec& spec, const Members& members,
                              Tick duration) {
    const Label label = label_instance(graph, spec, members.ranks.size());
    std::vector<OpId> parts(members.ranks.size());
    const OpId first = graph.add_meet(members.ranks, duration, label);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i] = first + static_cast<OpId>(i);
        graph.add_dependency(parts[i], members.after[i]);
    }
    return parts;
}

void check_options(const CollectiveOptions& options) {
    if (options.chunk < kUsualChunk || options.overhead < 0 || options.step_overhead < 0) {
        throw ConfigError("the chunk and the overheads of collectives must be 0 or more");
    }
}

}  // namespace

std::uint32_t usual_channels(CollectiveAlgorithm algorithm,
                             const std::vector<std::size_t>& servers) {
    const bool one = algorithm_type(algorithm).channels == UsualChannels::one;
    if (one || servers.size() < 2) return 1;
    return static_cast<std::uint32_t>(*std::min_element(servers.begin(), servers.end()));
}

std::int64_t usual_chunk(CollectiveKind kind, CollectiveAlgorithm algorithm, std::int64_t bytes,
                         std::uint32_t depth) {
    const AlgorithmType& type = algorithm_type(algorithm);
    if (type.usual_chunk != nullptr) return type.usual_chunk(bytes, depth);
    const bool forwards = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
    return forwards ? kForwardedChunk : 0;
}

CollectiveLibrary::CollectiveLibrary(JobGraph& graph, CollectiveOptions options)
    : graph_(graph), options_(std::move(options)) {
    check_options(options_);
    if (options_.queue_pairs) graph_.set_queue_pairs(options_.queue_pairs);
}

bool CollectiveLibrary::one_server(const std::vector<RankId>& ranks) const {
    if (!options_.server) return ranks.size() == 1;
    const std::uint32_t server = options_.server(ranks.front());
    for (const RankId rank : ranks) {
        if (options_.server(rank) != server) return false;
    }
    return true;
}

/// Whether the network joins all of them that are in different servers.
bool CollectiveLibrary::all_joined(const std::vector<RankId>& ranks) const {
    if (!options_.joined || !options_.server) return true;
    for (const RankId from : ranks) {
        for (const RankId to : ranks) {
            if (options_.server(from) != options_.server(to) && !options_.joined(from, to)) {
                return false;
            }
        }
    }
    return true;
}

CollectiveAlgorithm CollectiveLibrary::requested(CollectiveKind kind,
                                                 CollectiveAlgorithm algorithm) const {
    const auto index = static_cast<std::size_t>(kind);
    const bool by_options = algorithm == Algorithm::automatic && index < options_.algorithms.size();
    return by_options ? options_.algorithms[index] : algorithm;
}

CollectiveAlgorithm CollectiveLibrary::choose(CollectiveKind kind, CollectiveAlgorithm wanted,
                                              const Members& members) const {
    wanted = requested(kind, wanted);
    if (wanted != Algorithm::automatic && wanted != Algorithm::nccl) return wanted;
    if (options_.computed_in_server && one_server(members.ranks)) return Algorithm::computed;
    if (kind == CollectiveKind::all_to_all && !all_joined(members.ranks)) return Algorithm::pxn;
    return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send ? Algorithm::direct
                                                                              : Algorithm::ring;
}

std::optional<NcclPlan> CollectiveLibrary::plan_of(CollectiveKind kind, const CollectiveSpec& spec,
                                                   const Members& members) const {
    if (one_server(members.ranks) || !is_planned(kind)) return std::nullopt;
    if (!options_.nccl) {
        throw ConfigError("collective \"" + spec.name +
                          "\": algorithm nccl needs to know the GPUs and their NICs");
    }
    NcclGroup group;
    std::unordered_map<std::uint32_t, std::uint32_t> servers;
    group.nic_bytes_per_second = options_.nccl->nic(members.ranks.front());
    for (const RankId rank : members.ranks) {
        ++servers[options_.server ? options_.server(rank) : rank];
        group.nic_bytes_per_second = std::min(group.nic_bytes_per_second, options_.nccl->nic(rank));
    }
    group.members = static_cast<std::uint32_t>(members.ranks.size());
    group.servers = static_cast<std::uint32_t>(servers.size());
    group.least_per_server = group.members;
    bool equal = true;
    for (const auto& [server, count] : servers) {
        equal = equal && count == servers.begin()->second;
        group.least_per_server = std::min(group.least_per_server, count);
    }
    group.link = options_.nccl->link;
    group.nvls = options_.nvls.has_value() && options_.computed_in_server && equal;
    std::optional<NcclPlan> plan = plan_nccl(group, kind, spec.bytes, options_.nccl->limits);
    if (!plan) {
        throw ConfigError(
            "collective \"" + spec.name +
            "\": nccl_algorithm and nccl_protocol allow nothing that NCCL has for this group");
    }
    return plan;
}

std::vector<OpId> CollectiveLibrary::add_planned(CollectiveKind kind, const CollectiveSpec& spec,
                                                 const Members& members, const NcclPlan& plan) {
    CollectiveSpec chosen = spec;
    chosen.choice = plan.text();
    Schedule schedule(graph_, options_, chosen, members, &watcher_, &plan);
    schedule.add_overhead();
    const Algorithm algorithm = plan.algorithm == NcclNetworkAlgorithm::ring   ? Algorithm::ring
                                : plan.algorithm == NcclNetworkAlgorithm::tree ? Algorithm::tree
                                : plan.algorithm == NcclNetworkAlgorithm::nvls_tree
                                    ? Algorithm::nvls_tree
                                    : Algorithm::pat;
    return algorithm_type(algorithm).add(schedule, kind);
}

std::vector<OpId> CollectiveLibrary::add(CollectiveKind kind, const CollectiveSpec& spec,
                                         const Members& members, CollectiveAlgorithm algorithm) {
    check_size(spec, members);
    if (members.ranks.size() == 1) return members.after;
    if (kind == CollectiveKind::send && members.ranks.size() != 2) {
        throw ConfigError("collective \"" + spec.name + "\": send has " +
                          std::to_string(members.ranks.size()) + " members: it needs 2");
    }
    const bool by_nccl = requested(kind, algorithm) == Algorithm::nccl;
    if (by_nccl) {
        if (const std::optional<NcclPlan> plan = plan_of(kind, spec, members)) {
            return add_planned(kind, spec, members, *plan);
        }
    }
    algorithm = choose(kind, algorithm, members);
    if (algorithm == Algorithm::computed && one_server(members.ranks)) {
        const auto count = static_cast<std::uint32_t>(members.ranks.size());
        const Tick time = options_.intra_node.time(kind, count, spec.bytes);
        if (!by_nccl) return add_meeting(graph_, spec, members, time);
        CollectiveSpec chosen = spec;
        chosen.choice = options_.intra_node.choice(kind, count, spec.bytes);
        return add_meeting(graph_, chosen, members, time);
    }
    Schedule schedule(graph_, options_, spec, members, &watcher_);
    if (algorithm == Algorithm::computed) {
        schedule.fail("algorithm computed is for members of one server; others are " +
                      allowed_names(kind));
    }
    if (!is_able(algorithm, kind)) {
        schedule.fail(std::string("algorithm ") + to_string(algorithm) + " cannot do " +
                      to_string(kind) + "; allowed are " + allowed_names(kind));
    }
    schedule.choose_channels(algorithm);
    schedule.choose_chunk(kind, algorithm);
    const AlgorithmType& type = algorithm_type(algorithm);
    if (type.includes_software == nullptr || !type.includes_software(schedule)) {
        schedule.add_overhead();
    }
    if (kind != CollectiveKind::all_to_all) return type.add(schedule, kind);
    return type.add_all_to_all(schedule, AllToAllSizes(schedule.size(), spec.bytes));
}

std::vector<OpId> CollectiveLibrary::add_uneven_all_to_all(const CollectiveSpec& spec,
                                                           const Members& members,
                                                           const std::vector<std::int64_t>& bytes,
                                                           CollectiveAlgorithm algorithm) {
    Schedule schedule(graph_, options_, spec, members, &watcher_);
    const std::size_t n = members.ranks.size();
    if (bytes.size() != n * n) {
        throw InternalError("an all-to-all of " + std::to_string(n) + " members has " +
                            std::to_string(bytes.size()) + " sizes");
    }
    for (const std::int64_t block : bytes) {
        if (block < 0) schedule.fail("has a negative size: sizes must be 0 or more");
    }
    if (n == 1) return members.after;
    algorithm = choose(CollectiveKind::all_to_all, algorithm, members);
    const bool computed = algorithm == Algorithm::computed && one_server(members.ranks);
    if (!computed && !is_able(algorithm, CollectiveKind::all_to_all)) {
        schedule.fail(std::string("algorithm ") + to_string(algorithm) +
                      " cannot do this all-to-all; allowed are " +
                      allowed_names(CollectiveKind::all_to_all) + " (computed in one server)");
    }
    const AllToAllSizes sizes(schedule.size(), bytes);
    if (computed) return add_computed_all_to_all(schedule, sizes);
    schedule.choose_chunk(CollectiveKind::all_to_all, algorithm);
    schedule.add_overhead();
    return algorithm_type(algorithm).add_all_to_all(schedule, sizes);
}

JobGraph::Pair CollectiveLibrary::add_point_to_point(const CollectiveSpec& spec, RankId from,
                                                     RankId to, OpId after, OpId ready) {
    const Members members{{from, to}, {after, ready}};
    Schedule schedule(graph_, options_, spec, members, &watcher_);
    if (!schedule.computed(0, 1)) schedule.add_overhead();
    const Hop hop = schedule.send_whole();
    schedule.depend(hop.first, schedule.start(0));
    schedule.depend(hop.received, schedule.start(1));
    return {hop.sent, hop.received};
}

}  // namespace sluice
