// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/ids.h"

namespace sluice::hybrid {

/// The switch ports by which a group's data leave, and their depths at the last looks.
struct WatchedQueues {
    std::vector<PortId> ports;
    std::vector<double> depth;  ///< a ring of as many looks as the restorer wants
    std::size_t looks = 0;      ///< since they were listed
};

}  // namespace sluice::hybrid
