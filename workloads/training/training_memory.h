// SPDX-License-Identifier: Apache-2.0
/// Whether a training job fits its GPUs: memory.h's estimate for every pipeline rank.
#pragma once

#include <string>

#include "workloads/training/memory.h"
#include "workloads/training/training.h"

namespace sluice {

/// The pipeline rank that needs most.
struct TrainingMemory {
    std::uint32_t pipeline_rank = 0;
    MemoryUse use;
};

TrainingMemory training_memory(const TrainingConfig& config);

/// "memory 23.1 GB of 80.0 GB per GPU on pipeline rank 0: weights 5.5, gradients 10.9, ... GB".
/// `capacity` 0: not known.
std::string describe_memory(const TrainingMemory& memory, std::int64_t capacity);

/// Throws ConfigError with what describe_memory() says if the job does not fit `capacity` bytes.
void check_memory(const TrainingMemory& memory, std::int64_t capacity);

}  // namespace sluice
