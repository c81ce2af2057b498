// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/execution.h"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

/// Of the latency of NCCL's steps between servers, what NICs, cables and one switch take, which the network here takes
/// itself: an assumption, about what InfiniBand's latency tests show.
constexpr double kNetworkShareUs = 1;

Tick from_us(double microseconds) {
    return static_cast<Tick>(std::llround(microseconds * static_cast<double>(kMicrosecond)));
}

}  // namespace

Execution usual_execution(const CollectiveOptions& options) {
    Execution execution;
    execution.channels = std::max<std::uint32_t>(1, options.channels);
    execution.chunk = std::max<std::int64_t>(0, options.chunk);
    execution.overhead = options.overhead;
    execution.step_overhead = options.step_overhead;
    execution.server_step_overhead = options.server_step_overhead.value_or(options.step_overhead);
    execution.server_hop = options.server_hop;
    return execution;
}

Execution nccl_execution(const NcclPlan& plan, const CollectiveOptions& options,
                         std::size_t members, std::size_t servers) {
    Execution execution = usual_execution(options);
    execution.protocol = plan.protocol;
    if (options.channels == kUsualChannels) execution.channels = plan.channels;
    const bool ring = plan.algorithm == NcclNetworkAlgorithm::ring;
    if (options.chunk == kUsualChunk || (options.plans_chunk && !ring))
        execution.chunk = plan.chunk;
    execution.in_flight = plan.in_flight;
    double base = plan.base_us;
    double server_step = plan.server_step_us;
    const bool tree = plan.algorithm == NcclNetworkAlgorithm::tree;
    const NcclChoice* measured = options.intra_node.nccl().find(NcclAlgorithm::ring, plan.protocol);
    if (measured != nullptr && (ring || tree)) base = measured->base_us;
    if (measured != nullptr && ring) server_step = measured->step_us;
    execution.overhead = from_us(base);
    execution.step_overhead = from_us(std::max(0.0, plan.network_step_us - kNetworkShareUs));
    execution.server_hop = std::max<Tick>(1, from_us(server_step));
    // Where the network has the links inside, its own latency is next to nothing.
    execution.server_step_overhead = from_us(server_step);
    // All channels that there can be share the links inside, as each is copied by thread blocks of its own. Each leaves
    // most members by them, each of its two trees up and down.
    const double inside = 1 - static_cast<double>(servers) / static_cast<double>(members);
    const double leaving = std::max(execution.channels, plan.most_channels) * inside;
    const double lanes = tree ? 4 * leaving : leaving;
    execution.lane_rate = options.nccl->link.bytes_per_second / std::max(1.0, lanes);
    return execution;
}

OpId ServerLanes::add(JobGraph& graph, const Key& key, double seconds, Label label) {
    const auto duration = static_cast<Tick>(std::ceil(seconds * static_cast<double>(kSecond)));
    const OpId transfer = graph.add_delay(std::get<1>(key), duration, label);
    OpId& last = last_.try_emplace(key, kNone).first->second;
    graph.add_dependency(transfer, last);
    last = transfer;
    return transfer;
}

}  // namespace sluice
