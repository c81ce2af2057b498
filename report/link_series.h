// SPDX-License-Identifier: Apache-2.0
/// Load and queue of links over time.
#pragma once

#include <vector>

#include "report/paths.h"
#include "report/run_files.h"

namespace sluice::report {

/// Links with a series in a report.
inline constexpr std::size_t kMostSeries = 200;

/// Of `ports`, at most kMostSeries: {step (s), measured, ports: {PORT: {use: [...], queue: [...] or null}}}. Measured:
/// from series.csv. Else `use` is estimated from the flows whose ways cross the port, each at its mean rate, of payload.
/// null where there is neither.
Json link_series(const RunFiles& run, const FlowPaths& paths, const std::vector<PortId>& ports,
                 double end_s);

}  // namespace sluice::report
