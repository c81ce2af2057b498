// SPDX-License-Identifier: Apache-2.0
/// A JobGraph as Chakra traces: what another simulator can run of it.
/// One node per operation, in order of addition: compute and task become computations of the GPU,
/// in whole microseconds, rounded up; send and recv themselves, with the message's number as tag;
/// operations that take no time METADATA nodes that only join; a delay a computation on the CPU,
/// because nothing in Chakra takes time and occupies nothing.
/// What is lost: Chakra's simulators run one communication of a GPU at a time, a JobGraph many;
/// which resource a task or an acquire is about; slowdown while communication overlaps.
/// Errors: ConfigError for what has no Chakra node: signals and meetings (computed collectives).
#pragma once

#include <string>

#include "core/job/job_graph.h"
#include "core/text/import_report.h"

namespace sluice::chakra {

/// Writes PREFIX.0.et, PREFIX.1.et, ... of a finished graph. Notes say what was rounded or left out.
void export_job(const JobGraph& graph, const std::string& prefix, ImportReport& report);

}  // namespace sluice::chakra
