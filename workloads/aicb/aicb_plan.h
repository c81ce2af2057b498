// SPDX-License-Identifier: Apache-2.0
/// Which of a file's layers a graph has. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/aicb/aicb_graph.h"

namespace sluice {

/// The layers of a run of the file: all of them, or as many micro-batches as were asked for.
struct AicbPlan {
    AicbBlocks blocks;
    std::size_t micro_batches = 1;
    std::vector<std::uint32_t> head;
    std::vector<std::uint32_t> tail;

    std::vector<std::uint32_t> block(std::size_t number) const {
        std::vector<std::uint32_t> layers(blocks.length);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            layers[i] = static_cast<std::uint32_t>(blocks.first + number * blocks.length + i);
        }
        return layers;
    }

    std::vector<std::uint32_t> everything() const {
        std::vector<std::uint32_t> layers = head;
        for (std::size_t k = 0; k < micro_batches; ++k) {
            const std::vector<std::uint32_t> more = block(k);
            layers.insert(layers.end(), more.begin(), more.end());
        }
        layers.insert(layers.end(), tail.begin(), tail.end());
        return layers;
    }
};

/// ConfigError where more micro-batches are asked for than there are.
AicbPlan make_plan(const AicbWorkload& workload, const AicbGraphConfig& config);

}  // namespace sluice
