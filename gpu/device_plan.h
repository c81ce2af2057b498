// SPDX-License-Identifier: Apache-2.0
/// What a batch's lanes need of devices' memory, from building a sample of them, before anything is launched.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/batch/batch_file.h"

namespace sluice::gpu {

/// Experiments that are built to plan with, at most.
inline constexpr std::size_t kPlannedLanes = 16;

/// In lines for a terminal: bytes of a lane, at first and after its first windows, how many devices of the given
/// `memories`, in bytes, hold at once, at most `lanes`, what is streamed, and what a device refuses.
std::string device_plan(const Batch& batch, const std::vector<std::size_t>& memories,
                        std::size_t lanes, bool allow_oom);

}  // namespace sluice::gpu
