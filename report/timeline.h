// SPDX-License-Identifier: Apache-2.0
/// What ranks did over time, ranks that did the same drawn once.
#pragma once

#include "report/run_files.h"

namespace sluice::report {

/// {computed, lanes, names, rows: [{label, hosts, first_host, spans}], not_drawn}, null without spans:
///   computed  from trace.json, with computations; else from flows.csv: communication alone
///   spans     flat list of lane, name, begin, end (ns), in the order of lanes and time
/// Ranks whose spans begin and end at the same times (within a share of the run that makes the rows fit a page) are one row.
Json timeline(const RunFiles& run, double end_s);

}  // namespace sluice::report
