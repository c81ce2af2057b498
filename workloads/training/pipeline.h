// SPDX-License-Identifier: Apache-2.0
/// The order in which a pipeline stage computes its micro-batches.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

struct PipelineSlot {
    bool forward = true;
    std::uint32_t micro_batch = 0;
};

/// 1F1B (PipeDream-flush, Megatron's default): stage r of p first computes min(p - 1 - r, m)
/// forwards, then alternates one forward and one backward, then drains the backwards. With equal
/// stages and free communication the pipeline stands still for (p - 1) (tF + tB) per iteration.
std::vector<PipelineSlot> one_forward_one_backward(std::uint32_t stages, std::uint32_t stage,
                                                   std::uint32_t micro_batches);

}  // namespace sluice
