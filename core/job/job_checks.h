// SPDX-License-Identifier: Apache-2.0
/// What must hold of a job's graph. Errors: ConfigError that names the operations.
#pragma once

#include <vector>

#include "core/job/job_graph.h"

namespace sluice {

/// Each joins two operations of one rank.
void check_dependencies(const JobGraph& graph, const std::vector<Dependency>& dependencies);

/// No operation of an indexed graph waits for itself in any number of steps.
void refuse_cycles(const JobGraph& graph);

/// No signal between ranks is quicker than `lookahead`, no meeting of several ranks than twice that.
void check_signals(const JobGraph& graph, Tick lookahead);

}  // namespace sluice
