// SPDX-License-Identifier: Apache-2.0
#include "scenario/perturbation.h"

#include <algorithm>

#include "core/random.h"
#include "core/topology/limits.h"

namespace sluice {

namespace {

constexpr std::uint64_t kCableDraws = 0x7065727475726221;
constexpr std::uint64_t kSeedDraws = 0x7065727475726222;
constexpr Tick kParts = 10'000;
constexpr Tick kLongest = kMicrosecond;

}  // namespace

Tick longest_perturbation(Tick delay) {
    return delay > 0 ? std::clamp<Tick>(delay / kParts, 1, kLongest) : 0;
}

Topology perturbed(const Topology& topology, std::uint64_t seed, std::uint64_t number) {
    if (number == 0) return topology;
    const std::uint64_t stream = random_stream(kCableDraws, number);
    Topology longer;
    longer.name = topology.name;
    longer.gpus_per_server = topology.gpus_per_server;
    longer.server_sizes = topology.server_sizes;
    longer.gpu_type = topology.gpu_type;
    longer.switch_group = topology.switch_group;
    longer.group_routing = topology.group_routing;
    longer.hop_weights = topology.hop_weights;
    longer.port_owner = topology.port_owner;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        longer.add_node(topology.kind(node));
    }
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        Link link = topology.links()[i];
        const auto choices = static_cast<std::uint32_t>(longest_perturbation(link.delay) + 1);
        link.delay =
            std::min<Tick>(link.delay + uniform_below(seed, stream, i, choices), kMaxLinkDelay);
        longer.add_link(link);
    }
    longer.finish();
    return longer;
}

std::uint64_t perturbed_seed(std::uint64_t seed, std::uint64_t number) {
    return number == 0 ? seed : random_bits(seed, random_stream(kSeedDraws, number), 0);
}

}  // namespace sluice
