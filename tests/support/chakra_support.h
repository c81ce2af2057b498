// SPDX-License-Identifier: Apache-2.0
/// Helpers for tests of the Chakra importer: traces written to a folder of their own, and their run
/// on an analytical network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "flowlevel/analytical_network.h"
#include "tests/support/test_folder.h"
#include "workloads/chakra/chakra_graph.h"
#include "workloads/chakra/et_file.h"

namespace sluice::chakra::test {

using sluice::test::TestFolder;

inline Node node(std::uint64_t id, NodeType type, std::vector<std::uint64_t> deps = {}) {
    Node result;
    result.id = id;
    result.name = "n" + std::to_string(id);
    result.type = type;
    result.data_deps = std::move(deps);
    return result;
}

inline Node compute(std::uint64_t id, std::uint64_t us, std::vector<std::uint64_t> deps = {}) {
    Node result = node(id, NodeType::comp, std::move(deps));
    result.duration_us = us;
    return result;
}

inline Node collective(std::uint64_t id, CollectiveType type, std::int64_t bytes,
                       std::vector<std::uint64_t> deps = {}) {
    Node result = node(id, NodeType::comm_coll, std::move(deps));
    result.attributes = {Attribute::boolean("is_cpu_op", false),
                         Attribute::int64("comm_type", static_cast<std::int64_t>(type)),
                         Attribute::int64("comm_size", bytes)};
    return result;
}

inline Node message(std::uint64_t id, bool send, int peer, std::int64_t bytes,
                    std::vector<std::uint64_t> deps = {}, int tag = 0) {
    Node result = node(id, send ? NodeType::comm_send : NodeType::comm_recv, std::move(deps));
    result.attributes = {Attribute::int32(send ? "comm_dst" : "comm_src", peer),
                         Attribute::int32("comm_tag", tag), Attribute::int64("comm_size", bytes)};
    return result;
}

inline void write_trace(const std::string& path, const std::vector<Node>& nodes) {
    EtWriter writer(path, {});
    for (const Node& node : nodes) writer.write(node);
    writer.close();
}

/// The traces of a job, by rank.
inline std::vector<Trace> make_traces(const std::vector<std::vector<Node>>& ranks,
                                      ImportReport& report) {
    const TestFolder folder;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        write_trace(folder.file("t." + std::to_string(rank) + ".et"), ranks[rank]);
    }
    return read_traces(find_traces(folder.file("t")), 1, report);
}

/// The system of ASTRA-sim's regression test (tests/rt_template): ring, 4 splits, 1 active chunk,
/// endpoint-delay 10, local-mem-bw 50.
inline AstraSystem regression_system(std::size_t dims = 1) {
    AstraSystem system;
    system.path = "system.json";
    for (auto& algorithms : system.algorithms) algorithms.assign(dims, DimensionAlgorithm{});
    system.dataset_splits = 4;
    system.active_chunks = 1;
    system.endpoint_delay = 10;
    system.local_mem_bw = 50;
    system.local_bandwidth_aware = true;
    return system;
}

inline flowlevel::AnalyticalConfig ring_network(std::uint32_t npus) {
    return {{{flowlevel::DimensionKind::ring, npus, 50, 500}}, true};
}

inline JobOptions options_for(const flowlevel::AnalyticalConfig& network) {
    JobOptions options;
    for (const auto& dimension : network.dimensions) {
        options.expansion.dims.push_back(dimension.npus);
    }
    return options;
}

struct Outcome {
    ImportReport report;
    std::vector<Tick> finish;  ///< by rank; empty: misfits
    std::vector<RankStatistics> ranks;
    bool complete = false;
    std::string first_misfit;
};

inline Outcome run(const std::vector<std::vector<Node>>& ranks, const AstraSystem& system,
                   const flowlevel::AnalyticalConfig& network, JobOptions options) {
    Outcome outcome;
    const std::vector<Trace> traces = make_traces(ranks, outcome.report);
    std::unique_ptr<ChakraJob> job = build_job(traces, system, options, outcome.report);
    for (const ImportNote& note : outcome.report.notes()) {
        if (note.kind == ImportNote::Kind::misfit && outcome.first_misfit.empty()) {
            const std::size_t slash = note.where.rfind('/');
            outcome.first_misfit =
                note.where.substr(slash == std::string::npos ? 0 : slash + 1) + ": " + note.text;
        }
    }
    if (!job) return outcome;
    std::vector<NodeId> hosts;
    for (NodeId rank = 0; rank < traces.size(); ++rank) hosts.push_back(rank);
    const std::vector<FlowSpec> flows = job->graph.flows(hosts);
    JobApplication application(job->graph, hosts);
    flowlevel::AnalyticalRun network_run(network, flows, application);
    network_run.run();
    outcome.complete = application.complete();
    for (RankId rank = 0; rank < traces.size(); ++rank) {
        outcome.ranks.push_back(rank_statistics(*job, application, traces[rank], system, rank));
        outcome.finish.push_back(outcome.ranks.back().finish);
    }
    return outcome;
}

inline Outcome run(const std::vector<std::vector<Node>>& ranks, const AstraSystem& system,
                   const flowlevel::AnalyticalConfig& network) {
    return run(ranks, system, network, options_for(network));
}

}  // namespace sluice::chakra::test
