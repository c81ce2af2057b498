// SPDX-License-Identifier: Apache-2.0
/// Drives the interface as ASTRA-sim's system layer does: a message goes once around a ring of all ranks, and each passes it on
/// after computing for a microsecond. Prints when it is back.
///
/// usage: astra_network SCENARIO
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "network.h"

namespace {

constexpr uint64_t kBytes = 1'000'000;

struct Rank {
    AstraSim::AstraNetworkAPI* network;
    int next;
    int previous;
    double received_ns = -1;
    bool sent = false;
};

void send(void* argument) {
    Rank& rank = *static_cast<Rank*>(argument);
    rank.network->sim_send(
        nullptr, kBytes, 0, rank.next, 7, nullptr,
        [](void* of) { static_cast<Rank*>(of)->sent = true; }, argument);
}

void on_received(void* argument) {
    Rank& rank = *static_cast<Rank*>(argument);
    rank.received_ns = static_cast<double>(rank.network->sim_get_time().time_val);
    if (rank.network->sim_comm_get_rank() != 0) {
        rank.network->sim_schedule({AstraSim::US, 1}, send, argument);
    }
}

int run(const char* scenario) {
    SharedNetwork network(scenario);
    const int count = static_cast<int>(network.ranks());
    std::vector<std::unique_ptr<RankNetwork>> networks;
    std::vector<Rank> ranks;
    for (int rank = 0; rank < count; ++rank) {
        networks.push_back(std::make_unique<RankNetwork>(rank, network));
        ranks.push_back({networks.back().get(), (rank + 1) % count, (rank + count - 1) % count});
    }
    for (Rank& rank : ranks) {
        rank.network->sim_recv(nullptr, kBytes, 0, rank.previous, 7, nullptr, on_received, &rank);
    }
    send(&ranks[0]);
    network.run();
    bool whole = true;
    for (const Rank& rank : ranks) {
        whole = whole && rank.sent && rank.received_ns > 0;
    }
    std::printf("%d ranks: at rank 1 after %.3f ns, back after %.3f ns\n", count,
                ranks[1].received_ns, ranks[0].received_ns);
    return whole ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: astra_network SCENARIO\n");
        return 2;
    }
    try {
        return run(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "astra_network: %s\n", error.what());
        return 2;
    }
}
