// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/course.h"

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

Course usual_course(const CollectiveOptions& options) {
    Course course;
    course.channels = std::max<std::uint32_t>(1, options.channels);
    course.chunk = std::max<std::int64_t>(0, options.chunk);
    course.overhead = options.overhead;
    course.step_overhead = options.step_overhead;
    course.server_step_overhead = options.server_step_overhead.value_or(options.step_overhead);
    course.server_hop = options.server_hop;
    return course;
}

Course nccl_course(const NcclPlan& plan, const CollectiveOptions& options, std::size_t members,
                   std::size_t servers) {
    Course course = usual_course(options);
    course.planned = true;
    course.protocol = plan.protocol;
    if (options.channels == kUsualChannels) course.channels = plan.channels;
    const bool ring = plan.path == NcclPath::ring;
    if (options.chunk == kUsualChunk || (options.plans_chunk && !ring)) course.chunk = plan.chunk;
    course.in_flight = plan.in_flight;
    double base = plan.base_us;
    double server_step = plan.server_step_us;
    const bool tree = plan.path == NcclPath::tree;
    const NcclChoice* measured = options.intra_node.nccl().find(NcclAlgorithm::ring, plan.protocol);
    if (measured != nullptr && (ring || tree)) base = measured->base_us;
    if (measured != nullptr && ring) server_step = measured->step_us;
    course.overhead = from_us(base);
    course.step_overhead = from_us(std::max(0.0, plan.network_step_us - kNetworkShareUs));
    course.server_hop = std::max<Tick>(1, from_us(server_step));
    // Where the network has the links inside, its own latency is next to nothing.
    course.server_step_overhead = from_us(server_step);
    // All channels that there can be share the links inside, as each is copied by thread blocks of its own. Each leaves
    // most members by them, each of its two trees up and down.
    const double inside = 1 - static_cast<double>(servers) / static_cast<double>(members);
    const double leaving = std::max(course.channels, plan.most_channels) * inside;
    const double lanes = tree ? 4 * leaving : leaving;
    course.lane_rate = options.nccl->link.bytes_per_second / std::max(1.0, lanes);
    return course;
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
