// SPDX-License-Identifier: Apache-2.0
/// Weighted ECMP (WCMP; Zhou et al., EuroSys 2014), as switches' tables have it: a next hop stands in its list as often as its
/// weight says, so that whatever chooses among entries alike chooses among ports by weight.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/topology/topology.h"

namespace sluice {

/// The most entries of one port. Where the rates' ratio needs more, weights are rounded to parts of the largest rate.
inline constexpr std::int64_t kMostEntries = 64;

/// Repeats each of `ports` in proportion to its rate, as few times as can be and its entries as far apart as can be. Ports of one
/// rate stay as they are.
void repeat_by_rate(const Topology& topology, std::vector<PortId>& ports);

}  // namespace sluice
