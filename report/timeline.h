// SPDX-License-Identifier: Apache-2.0
/// What ranks did over time, ranks that did the same drawn once.
#pragma once

#include "report/run_files.h"

namespace sluice::report {

/// {computed, difference, lanes, names, rows: [{label, hosts, first_host, spans}], not_drawn}, null without spans:
///   computed  from trace.json, with computations; else from flows.csv: communication alone
///   spans     flat list of lane, name, begin, end (ns), in the order of lanes and time
///   difference  ranks of one row do different things in at most this share of the run: the least of 1%, 2%, 4% that makes
///               12 rows, or of these and 8%, 16% that makes 48. 0: no two ranks are alike, and 48 hosts at equal distances
///               are drawn
Json timeline(const RunFiles& run, double end_s);

}  // namespace sluice::report
