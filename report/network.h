// SPDX-License-Identifier: Apache-2.0
/// The network of a run as it is drawn, with what its links carried.
#pragma once

#include <string>
#include <vector>

#include "report/paths.h"
#include "report/run_files.h"

namespace sluice::report {

/// The hottest ports, by what makes a port hot; kNone where there is none.
struct HotPorts {
    PortId busiest = kNone;
    PortId deepest = kNone;  ///< by largest queue
    PortId paused = kNone;   ///< by time paused
};

HotPorts hot_ports(const RunFiles& run);

/// "leaf3 to spine1".
std::string link_name(const RunFiles& run, PortId port);

/// A network of more ports than this is drawn by its hottest ones alone.
inline constexpr std::size_t kMostDrawnPorts = 40'000;

/// {layout, groups: [{prefix, nodes}], x, y, classes, links: columns by directed link, left_out, series, hottest}:
///   groups   of nodes by name: the i-th node of a group is called prefix and i
///   x, y     by node, 0 to 1
///   links    {port, from, to, class, rate (b/s), bytes, use (share of the run), queue (B), marks, drops, paused (s), flows}
///   series   of the hottest links: of link_series()
/// `end_s`: of the simulated time.
Json network_picture(const RunFiles& run, const FlowPaths& paths, double end_s);

}  // namespace sluice::report
