// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/simai_workload.h"

#include <algorithm>

#include <fmt/core.h>

namespace sluice {

namespace {

constexpr std::int64_t kLeastForward = 4096;

void use_all_gpus(AicbWorkload& workload, RankId gpus, ImportReport& report) {
    std::int64_t& said = workload.header.all_gpus;
    if (said == 0 || said == gpus) return;
    report.skipped(workload.where(), fmt::format("all_gpus is {}; all {} GPUs of the topology take "
                                                 "part, as SimAI has it (-g N: only N of them)",
                                                 said, gpus));
    said = gpus;
}

void leave_out_pipeline(AicbWorkload& workload, ImportReport& report) {
    std::int64_t& pp = workload.header.pp;
    if (pp < 2) return;
    report.skipped(workload.where(),
                   fmt::format("pp is {}: as SimAI has it a bubble by formula and no traffic; the "
                               "stages' GPUs are data-parallel (--pipeline traffic simulates them)",
                               pp));
    pp = 1;
}

void raise_small_forward(AicbWorkload& workload) {
    if (workload.header.policy != AicbPolicy::transformer_fwd_in_bckwd) return;
    for (AicbLayer& layer : workload.layers) {
        std::int64_t& bytes = layer.work[kForward].bytes;
        if (bytes > 0) bytes = std::max(bytes, kLeastForward);
    }
}

}  // namespace

void read_as_simai(AicbWorkload& workload, const SimaiReading& reading, ImportReport& report) {
    if (reading.gpus > 0) use_all_gpus(workload, reading.gpus, report);
    if (!reading.pipeline) leave_out_pipeline(workload, report);
    raise_small_forward(workload);
}

}  // namespace sluice
