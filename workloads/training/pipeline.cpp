// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/pipeline.h"

#include <algorithm>

namespace sluice {

std::vector<PipelineSlot> one_forward_one_backward(std::uint32_t stages, std::uint32_t stage,
                                                   std::uint32_t micro_batches) {
    const std::uint32_t warm_up = std::min(stages - 1 - stage, micro_batches);
    std::vector<PipelineSlot> order;
    order.reserve(std::size_t{2} * micro_batches);
    for (std::uint32_t k = 0; k < warm_up; ++k) order.push_back({true, k});
    for (std::uint32_t k = warm_up; k < micro_batches; ++k) {
        order.push_back({true, k});
        order.push_back({false, k - warm_up});
    }
    for (std::uint32_t k = micro_batches - warm_up; k < micro_batches; ++k) {
        order.push_back({false, k});
    }
    return order;
}

}  // namespace sluice
