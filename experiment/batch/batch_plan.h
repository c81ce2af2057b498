// SPDX-License-Identifier: Apache-2.0
/// What a batch would need, from building a sample of its experiments: all of them if they are few.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/batch/batch_file.h"

namespace sluice {

/// Experiments that are built to plan with, at most.
inline constexpr std::size_t kPlanned = 64;

/// In lines for a terminal: how many experiments, packet-hops, memory, time on so many threads, and what would
/// not run.
std::string batch_plan(const Batch& batch, unsigned threads, bool allow_oom);

}  // namespace sluice
