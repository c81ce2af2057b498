// SPDX-License-Identifier: Apache-2.0
/// Chakra traces as one dependency graph, with ASTRA-sim's semantics.
/// What is modelled. A rank runs one operation at a time on its CPU (is_cpu_op), one computation on
/// its GPU and one communication or memory access of its GPU; of the nodes that wait for one of
/// these, the least id is next. Receiving occupies nothing.
///   computation  its duration (at least 1 ns) or, with roofline-enabled and on the GPU,
///                num_ops / min(peak, bandwidth x num_ops / tensor_size); nothing if tensor_size is 0
///   send, recv   matched by (tag, source, destination), first with first
///   collective   of a group: the ranks' n-th of that group belong together (astra_collective.h);
///                those that ASTRA-sim does not simulate take their recorded duration
///   memory       latency + bytes / bandwidth; where the memory is shared, one access at a time
/// n-th, first: in the order in which a rank would issue them if all took no time
/// (Trace::issue_order).
/// Errors: what does not fit together is a misfit of the report; then there is no graph. ConfigError
/// if an algorithm cannot serve a group.
#pragma once

#include <memory>
#include <vector>

#include "core/job/job_application.h"
#include "core/job/job_graph.h"
#include "workloads/chakra/astra_collective.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {

struct JobOptions {
    ExpansionOptions expansion;
    double compute_scale = 1;  ///< of the durations of computations
    double comm_scale = 1;     ///< of the bytes of communications
    /// Between a rank and the one that stands for a memory that they share; at least the engine's
    /// lookahead.
    Tick signal_delay = 0;
    std::vector<Group> groups;  ///< of the comm_group file
    RemoteMemory memory;
};

/// The graph, and which of its operations are the first and the last of each node.
struct ChakraJob {
    JobGraph graph;
    std::vector<std::vector<OpId>> first;  ///< by rank and position in its trace
    std::vector<std::vector<OpId>> last;
};

/// Null if the report has misfits, from the traces or from putting them together.
std::unique_ptr<ChakraJob> build_job(const std::vector<Trace>& traces, const AstraSystem& system,
                                     const JobOptions& options, ImportReport& report);

/// What ASTRA-sim prints of a rank; times as unions of intervals.
struct RankStatistics {
    Tick finish = 0;
    Tick cpu = 0;
    Tick gpu = 0;
    Tick comm = 0;
    Tick remote_memory = 0;
    Tick exposed = 0;  ///< finish less the durations of GPU computations
    Tick overlap = 0;  ///< of GPU computation with communication
    /// Over the time of computations with operations and bytes, under roofline.
    double compute_bound = 0;
    double compute_utilization = 0;
    double memory_utilization = 0;
    double operation_intensity = 0;
};

/// After `application` has run; `hosts` of its graph are the ranks.
RankStatistics rank_statistics(const ChakraJob& job, const JobApplication& application,
                               const Trace& trace, const AstraSystem& system, RankId rank);

}  // namespace sluice::chakra
