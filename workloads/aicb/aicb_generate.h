// SPDX-License-Identifier: Apache-2.0
/// Workload files from a model and a strategy, in AICB's format: the layers of one pipeline stage,
/// each micro-batch unrolled, between gradient traffic and the optimizer.
/// generate_aicb(): sizes by the formulas of workloads/model; b sequences of s tokens, h hidden:
///   before      ALLGATHER 2 P and REDUCESCATTER 4 P of the data-parallel group, P dense parameters
///               of the rank (the largest stage's); of experts over DP / EP; with SP the norms'
///               gradients, ALLREDUCE 2 x norms in the tensor-parallel group
///   layer, SP   attention and MLP each as column (forward ALLGATHER 2 b s h, input gradient
///               REDUCESCATTER) and row (REDUCESCATTER, ALLGATHER)
///   layer       attention and MLP each forward ALLREDUCE 2 b s h and the same for gradients
///   mixture     router counts, dispatch, TP gather and scatter, combine, as five lines
///   head        cross-entropy 3 x ALLREDUCE 4 b s per micro-batch
/// generate_aicb_compatible(): the file that AICB's SimAI_training_workload_generator writes
/// (github.com/aliyun/aicb, commit 151243e), with what is particular to it: embedding weights
/// counted four times, position embeddings not divided, norms and head counted with SP only, SwiGLU
/// as two matrices of width floor(8 h / 3 / 64) 64, key/value heads as many as heads, all dense
/// parameters in "layernorm", gradients' ALLGATHER in the tensor-parallel column (without profile),
/// input gradients without communication or size, an ALLREDUCE of 2 V h per micro-batch
/// (without profile), compute times that leak from one layer to the next (with profile).
/// Compute times: AICB's from an AIOB profile; ours by roofline (backward twice forward: input and
/// weight gradients each as long as it). Without either, 1 ns, as AICB writes.
/// Errors: ConfigError where degrees do not divide.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/aicb/aicb_workload.h"
#include "workloads/model/aiob_profile.h"
#include "workloads/model/model.h"
#include "workloads/model/roofline.h"

namespace sluice {

struct AicbJob {
    ModelShape model;
    std::int64_t world = 1;
    std::int64_t tp = 1;
    std::int64_t pp = 1;
    std::int64_t ep = 1;
    std::int64_t micro_batch = 1;   ///< sequences
    std::int64_t global_batch = 1;  ///< sequences
    std::int64_t sequence = 2048;   ///< tokens
    bool sequence_parallel = false;
    bool recompute = false;  ///< of attention
    bool swiglu = false;     ///< AICB's option; ours is the model's `gated`
};

AicbWorkload generate_aicb(const AicbJob& job, const std::optional<Roofline>& roofline);
AicbWorkload generate_aicb_compatible(const AicbJob& job,
                                      const std::optional<AiobProfile>& profile);

/// AICB's dense and expert parameters of a rank.
struct AicbParameters {
    std::int64_t dense = 0;
    std::int64_t experts = 0;
};
AicbParameters aicb_parameters(const AicbJob& job);

}  // namespace sluice
