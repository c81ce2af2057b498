// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/collective_options.h"

#include <memory>

#include "core/error.h"
#include "scenario/workload/data_folders.h"
#include "workloads/model/gpu.h"
#include "workloads/training/rank_places.h"

namespace sluice {

namespace {

/// Of a collective that NCCL runs by ring or tree with its Simple protocol, before anything is sent
/// (the base latency of NCCL's tuning tables).
constexpr Tick kCollectiveOverhead = 8'400 * kNanosecond;

bool has_nvswitch(const Topology& topology) {
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) return true;
    }
    return false;
}

/// The keys "nccl_algorithm" and "nccl_protocol", recorded where they are given only.
NcclLimits read_nccl_limits(ConfigSection& section) {
    NcclLimits limits;
    if (section.has("nccl_algorithm")) {
        limits.algorithm =
            section.choice<NcclNetworkAlgorithm>("nccl_algorithm", NcclNetworkAlgorithm::ring,
                                                 {{"ring", NcclNetworkAlgorithm::ring},
                                                  {"tree", NcclNetworkAlgorithm::tree},
                                                  {"nvls-tree", NcclNetworkAlgorithm::nvls_tree},
                                                  {"pat", NcclNetworkAlgorithm::pat}});
    }
    if (section.has("nccl_protocol")) {
        limits.protocol = section.choice<NcclProtocol>("nccl_protocol", NcclProtocol::simple,
                                                       {{"LL", NcclProtocol::ll},
                                                        {"LL128", NcclProtocol::ll128},
                                                        {"Simple", NcclProtocol::simple}});
    }
    return limits;
}

}  // namespace

std::uint32_t read_channels(ConfigSection& section) {
    if (!section.has("channels")) return kUsualChannels;
    return static_cast<std::uint32_t>(section.integer("channels", std::nullopt, 1, 1024));
}

std::uint32_t read_queue_pairs(ConfigSection& section) {
    constexpr std::int64_t kMost = 128;  // NCCL's, per connection
    if (!section.has("queue_pairs")) return 0;
    return static_cast<std::uint32_t>(section.integer("queue_pairs", std::nullopt, 1, kMost));
}

RingOrder read_ring_order(ConfigSection& section) {
    return section.choice("ring_order", RingOrder::rail,
                          {{"given", RingOrder::given}, {"rail", RingOrder::rail}});
}

CollectiveOptions read_collective_options(ConfigSection& section, const Scenario& scenario) {
    CollectiveOptions options;
    options.channels = read_channels(section);
    options.ring_order = read_ring_order(section);
    options.chunk = kUsualChunk;
    if (section.has("chunk")) {
        options.chunk = section.bytes("chunk", std::nullopt, {0}, kLargestMessage).count;
    }
    options.overhead = section.time("overhead", kCollectiveOverhead);
    options.step_overhead = section.time("step_overhead", 0);
    options.window = static_cast<std::uint32_t>(section.integer("window", 0, 0, 1'000'000'000));
    // Recorded where it is asked for only, as its algorithms are.
    if (section.has("server_copies")) {
        options.server_copies = section.number("server_copies", 1, 1, 1'000'000);
    }
    options.computed_in_server = section.choice("intra_node", !has_nvswitch(scenario.topology),
                                                {{"computed", true}, {"network", false}});
    const Gpu gpu = read_gpu(section, "gpu", "A100", data_folders("gpus"),
                             [&](const std::string& file) { return scenario.resolve(file); });
    const std::string interconnect = section.text("interconnect", gpu.usual_interconnect());
    try {
        options.intra_node = gpu.intra_node(interconnect);
    } catch (const ConfigError& error) {
        section.fail("interconnect", error.what());
    }
    options.nccl = NcclHardware{gpu.nccl_link(interconnect), nullptr, read_nccl_limits(section)};
    options.server_hop = section.time("server_hop", options.server_hop);
    const Interconnect* nvls = gpu.find_interconnect("nvls");
    if (nvls != nullptr) options.nvls = nvls->calibration;
    return options;
}

std::function<double(RankId)> nic_rates(const Topology& topology,
                                        const std::vector<NodeId>& hosts) {
    const auto rates = std::make_shared<std::vector<double>>();
    for (const NodeId host : hosts) {
        double bits = 0;
        const PortId first = topology.first_port(host);
        for (PortId port = first; port < first + topology.port_count(host); ++port) {
            const bool inside = topology.kind(topology.neighbor(port)) == NodeKind::nvswitch;
            if (!inside) bits += static_cast<double>(topology.rate(port).bits_per_second);
        }
        rates->push_back(bits / 8);
    }
    return [rates](RankId rank) { return (*rates)[rank]; };
}

void place_collectives(CollectiveOptions& options, const Topology& topology,
                       const std::vector<NodeId>& hosts, std::uint32_t queue_pairs) {
    const auto places =
        std::make_shared<const RankPlaces>(RankPlaces::on(topology, hosts, queue_pairs));
    options.server = [places](RankId rank) { return places->server[rank]; };
    options.rail = [places](RankId rank) { return places->rail[rank]; };
    options.joined = places->joined;
    options.queue_pairs = places->queue_pairs;
    if (options.nccl) options.nccl->nic = nic_rates(topology, hosts);
}

}  // namespace sluice
