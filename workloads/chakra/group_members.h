// SPDX-License-Identifier: Apache-2.0
/// Which ranks a collective of a trace is of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/job/job_graph.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {

/// The ranks of the group of a collective, `node` of the trace of `rank`: as the trace's own METADATA
/// says, then as `groups` do. nullopt, and a misfit of the report: it is not known, or cannot be.
std::optional<std::vector<RankId>> group_members(const Trace& trace, RankId rank,
                                                 std::uint32_t node, std::size_t ranks,
                                                 const std::vector<Group>& groups,
                                                 ImportReport& report);

/// Group 0 is all ranks: a misfit where a comm_group file lists others under it.
void check_world(const std::vector<Group>& groups, std::size_t ranks, ImportReport& report);

}  // namespace sluice::chakra
