// SPDX-License-Identifier: Apache-2.0
/// What a network engine is given to carry: flows, and who starts those without a start time.
#pragma once

#include <memory>
#include <vector>

#include "core/flow/flow.h"
#include "core/job/job_application.h"

namespace sluice {

/// Source ports are left to assign_source_ports(), which must see all flows of an experiment.
struct Workload {
    std::vector<FlowSpec> flows;
    std::unique_ptr<JobApplication> application;  ///< null: every flow has its start time
};

/// A finished graph on hosts[0], hosts[1], ... as the only workload of an experiment.
inline Workload make_workload(JobGraph graph, const std::vector<NodeId>& hosts) {
    Workload workload;
    workload.flows = graph.flows(hosts);
    workload.application = std::make_unique<JobApplication>(std::move(graph), hosts);
    return workload;
}

}  // namespace sluice
