// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/chakra/chakra_graph.h"
#include "workloads/chakra/node_times.h"

namespace sluice::chakra {

namespace {

using Intervals = std::vector<std::pair<Tick, Tick>>;

/// The intervals in order and without overlaps; returns their total.
Tick merge(Intervals& intervals) {
    std::sort(intervals.begin(), intervals.end());
    Intervals merged;
    for (const auto& [start, end] : intervals) {
        if (!merged.empty() && start <= merged.back().second) {
            merged.back().second = std::max(merged.back().second, end);
        } else {
            merged.emplace_back(start, end);
        }
    }
    Tick total = 0;
    for (const auto& [start, end] : merged) total += end - start;
    intervals.swap(merged);
    return total;
}

Tick common(const Intervals& a, const Intervals& b) {
    Tick total = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const Tick start = std::max(a[i].first, b[j].first);
        const Tick end = std::min(a[i].second, b[j].second);
        if (end > start) total += end - start;
        a[i].second < b[j].second ? ++i : ++j;
    }
    return total;
}

}  // namespace

RankStatistics rank_statistics(const ChakraJob& job, const JobApplication& application,
                               const Trace& trace, const AstraSystem& system, RankId rank) {
    RankStatistics result;
    Intervals cpu;
    Intervals gpu;
    Intervals comm;
    Intervals memory;
    Tick gpu_total = 0;
    double weighed = 0;
    for (std::size_t node = 0; node < trace.size(); ++node) {
        const Tick start = application.start(job.first[rank][node]);
        const Tick end = application.end(job.last[rank][node]);
        if (start == kNever || end == kNever) continue;
        result.finish = std::max(result.finish, end);
        const NodeType type = trace.type(node);
        if (type == NodeType::invalid || type == NodeType::metadata) continue;
        if (type == NodeType::comp && !trace.on_cpu(node)) gpu_total += end - start;
        (type != NodeType::comp ? (is_memory(type) ? memory : comm)
         : trace.on_cpu(node)   ? cpu
                                : gpu)
            .emplace_back(start, end);
        const Work* work = trace.work(node);
        if (!system.roofline || trace.on_cpu(node) || work == nullptr || work->bytes == 0) continue;
        const auto time = static_cast<double>(end - start);
        const double perf = attainable(*work, system);
        const double intensity =
            static_cast<double>(work->operations) / static_cast<double>(work->bytes);
        weighed += time;
        result.operation_intensity += time * intensity;
        result.compute_utilization += time * perf / (system.peak_perf * 1e12);
        if (intensity > 0) {
            result.memory_utilization += time * perf / intensity / (system.local_mem_bw * 1e9);
        }
        if (perf >= system.peak_perf * 1e12) result.compute_bound += time;
    }
    result.cpu = merge(cpu);
    result.gpu = merge(gpu);
    result.comm = merge(comm);
    result.remote_memory = merge(memory);
    result.overlap = common(gpu, comm);
    result.exposed = result.finish - gpu_total;
    if (weighed > 0) {
        result.operation_intensity /= weighed;
        result.compute_utilization /= weighed;
        result.memory_utilization /= weighed;
        result.compute_bound /= weighed;
    }
    return result;
}

}  // namespace sluice::chakra
