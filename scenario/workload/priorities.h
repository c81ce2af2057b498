// SPDX-License-Identifier: Apache-2.0
/// The table `priorities` of a job: traffic classes by what messages are of, in place of `priority`.
#pragma once

#include <cstdint>
#include <map>

#include "core/job/job_graph.h"
#include "core/text/config_section.h"
#include "scenario/workload/workload_part.h"

namespace sluice {

using Priorities = std::map<OpClass, std::uint8_t>;

/// Empty if the table is missing.
Priorities read_priorities(ConfigSection& section);

/// Of a stream, whose messages are all of one class, that class's. ConfigError if the part is no job, or if a communicator's messages would be of several classes.
void set_priorities(WorkloadPart& part, const Priorities& priorities);

}  // namespace sluice
