// SPDX-License-Identifier: Apache-2.0
/// A GOAL schedule as a source of operations (core/job/operation_source.h), each rank's read as the
/// rank gets to them: two reads for a block of 64. Text is turned into a binary file first, rank by
/// rank, which takes 39 bytes per operation and 4 per dependency where temporary files go (TMPDIR).
/// What an operation is, is what build_goal_graph() makes of it in layout gpu, for schedules that name
/// no other NIC than 0. Memory: 48 bytes per rank.
/// Errors: ConfigError with file and rank, for what is found before the run and, in blocks, during it;
/// for recvs from any source or with any tag, which only a run of the whole schedule can match.
#pragma once

#include <memory>
#include <string>

#include "core/job/operation_source.h"

namespace sluice {

/// `path`: text or binary.
std::unique_ptr<OperationSource> open_goal_stream(const std::string& path);

}  // namespace sluice
