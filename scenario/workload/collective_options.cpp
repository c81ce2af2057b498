// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/collective_options.h"

#include "core/error.h"
#include "scenario/workload/data_folders.h"
#include "workloads/model/gpu.h"

namespace sluice {

namespace {

constexpr Bytes kLargestChunk{std::int64_t{1} << 50};
/// Of a collective that NCCL runs by ring or tree with its Simple protocol, before anything is sent
/// (the base latency of NCCL's tuning tables).
constexpr Tick kCollectiveOverhead = 8'400 * kNanosecond;

bool has_nvswitch(const Topology& topology) {
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) return true;
    }
    return false;
}

}  // namespace

std::uint32_t read_channels(ConfigSection& section) {
    if (!section.has("channels")) return kUsualChannels;
    return static_cast<std::uint32_t>(section.integer("channels", std::nullopt, 1, 1024));
}

CollectiveOptions read_collective_options(ConfigSection& section, const Scenario& scenario) {
    CollectiveOptions options;
    options.channels = read_channels(section);
    options.ring_order = section.choice("ring_order", RingOrder::given,
                                        {{"given", RingOrder::given}, {"rail", RingOrder::rail}});
    options.chunk = kUsualChunk;
    if (section.has("chunk")) {
        options.chunk = section.bytes("chunk", std::nullopt, {0}, kLargestChunk).count;
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

void place_collectives(CollectiveOptions& options, const Topology& topology,
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

}  // namespace sluice
