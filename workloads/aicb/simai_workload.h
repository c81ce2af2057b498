// SPDX-License-Identifier: Apache-2.0
/// How SimAI's simulator reads a workload, where that is not what the file says (Sys.cc,
/// Workload.cc): all GPUs of the topology take part; the pipeline is a formula, so its stages are
/// data-parallel replicas; under HYBRID_TRANSFORMER_FWD_IN_BCKWD a forward communication is of 4,096
/// bytes at least; tensor parallelism of 1 leaves nothing to communicate forward or backward.
#pragma once

#include "core/job/job_graph.h"
#include "workloads/aicb/aicb_workload.h"

namespace sluice {

struct SimaiReading {
    RankId gpus = 0;        ///< of the topology, all of which take part; 0: the file's
    bool pipeline = false;  ///< stages are stages
};

/// Changes the workload to that; `report` gets what differs from the file.
void read_as_simai(AicbWorkload& workload, const SimaiReading& reading, ImportReport& report);

}  // namespace sluice
