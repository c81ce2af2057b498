// SPDX-License-Identifier: Apache-2.0
/// ASTRA-sim's own workload and system layers on a network of packets: Chakra traces, a rank each, are executed by
/// ASTRA-sim, and what they send is a transfer of the scenario's network. ASTRA-sim prints when each rank is done.
///
/// usage: astra_workload SCENARIO TRACES SYSTEM.json MEMORY.json [DIMENSION...]
///   SCENARIO       the network; rank r is host r
///   TRACES         the traces' names without ".RANK.et"
///   DIMENSION      ranks of each dimension that the system's collectives have; default: one with all of them
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "extern/remote_memory_backend/analytical/AnalyticalRemoteMemory.hh"
#include "network.h"

namespace {

int run(int argc, char** argv) {
    SharedNetwork network(argv[1]);
    const int count = static_cast<int>(network.ranks());
    std::vector<int> dimensions;
    for (int i = 5; i < argc; ++i) {
        dimensions.push_back(std::atoi(argv[i]));
    }
    if (dimensions.empty()) {
        dimensions.push_back(count);
    }
    if (std::accumulate(dimensions.begin(), dimensions.end(), 1, std::multiplies<>()) != count) {
        std::fprintf(stderr, "the dimensions' product must be the network's %d hosts\n", count);
        return 2;
    }
    AstraSim::LoggerFactory::init("empty");
    Analytical::AnalyticalRemoteMemory memory(argv[4]);
    std::vector<std::unique_ptr<RankNetwork>> networks;
    std::vector<std::unique_ptr<AstraSim::Sys>> ranks;
    for (int rank = 0; rank < count; ++rank) {
        networks.push_back(std::make_unique<RankNetwork>(rank, network));
        ranks.push_back(std::make_unique<AstraSim::Sys>(
            rank, argv[2], "empty", argv[3], &memory, networks.back().get(), dimensions,
            std::vector<int>(dimensions.size(), 1), 1.0, 1.0, false));
    }
    for (const std::unique_ptr<AstraSim::Sys>& rank : ranks) {
        rank->workload->fire();
    }
    network.run();
    std::printf("%d ranks: nothing is under way after %.3f ns\n", count,
                static_cast<double>(network.now()) / 1000);
    ranks.clear();
    AstraSim::LoggerFactory::shutdown();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(
            stderr,
            "usage: astra_workload SCENARIO TRACES SYSTEM.json MEMORY.json [DIMENSION...]\n");
        return 2;
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
