// SPDX-License-Identifier: Apache-2.0
/// Whether flows have met in queues: then packets' order is a matter of chance, and a run's times are one draw of a
/// distribution (docs/fidelity.md).
#pragma once

#include <cstddef>
#include <vector>

#include "core/results/statistics.h"
#include "experiment/experiment.h"

namespace sluice {

/// Packets that a port of a switch may hold where nothing meets: what a faster link hands over at once.
inline constexpr std::int64_t kPassingPackets = 8;

/// Switches' ports that have held more than kPassingPackets full packets. 0 in a mode without packets.
std::size_t contended_ports(const Experiment& experiment, const std::vector<PortStatistics>& ports);

}  // namespace sluice
