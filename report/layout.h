// SPDX-License-Identifier: Apache-2.0
/// Where the nodes of a network are drawn: each kind of network has its own picture.
///     torus                  a grid of switches, in three dimensions its planes side by side
///     full-mesh, dragonfly   switches on a circle, a dragonfly's groups on circles of their own
///     all others             tiers from the hosts upwards, each in the order of ids, which the builders number
///                            by rack, pod and rail (core/topology/builders.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_files.h"

namespace sluice::report {

struct Point {
    double x = 0;  ///< 0 left, 1 right
    double y = 0;  ///< 0 top, 1 bottom
};

struct Layout {
    std::string kind;           ///< "tiers", "torus" or "circle"
    std::vector<Point> points;  ///< by node
};

Layout layout_of(const RunFiles& run);

}  // namespace sluice::report
