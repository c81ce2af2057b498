// SPDX-License-Identifier: Apache-2.0
/// Load and queue of links over time.
#pragma once

#include <vector>

#include "report/paths.h"
#include "report/run_files.h"

namespace sluice::report {

/// Links with a series in a report.
inline constexpr std::size_t kMostSeries = 200;

/// Of `ports`, at most kMostSeries: {step (s), measured, whole, ports: {PORT: {use: [...], peak, queue: [...] or null}}}.
/// `use`: the share of the line that frames take, headers and ACKs included; `peak`: its largest value; null where flows are missing.
///   measured  from series.csv
///   else      estimated from the flows whose data or ACKs cross the port, each at its mean rate. Scaled to the bytes that
///             ports.csv counted, if all flows finished (`whole`). Above 100% nothing is sent: what the mean rates put
///             there lies in the nearest steps with room.
/// null where there is neither.
Json link_series(const RunFiles& run, const FlowPaths& paths, const std::vector<PortId>& ports,
                 double end_s);

}  // namespace sluice::report
