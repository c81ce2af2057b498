// SPDX-License-Identifier: Apache-2.0
/// What an output that records queues must know of a run beside its topology.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice {

struct QueueFacts {
    Tick step = 0;      ///< between two samples, > 0
    Tick base_rtt = 0;  ///< the largest of the run's flows, > 0
    std::string law;    ///< of congestion control, by its name
    /// By port: bytes from which it marks packets; 0 where the law does not react to marks.
    std::vector<std::int64_t> mark_bytes;
    /// Egress ports of a flow's data, as the network stood at first.
    std::function<std::vector<PortId>(const FlowRecord&)> path;
};

/// A look at every port at one instant, by port id: bytes queued, and bytes sent since the start.
struct PortSample {
    Tick at = 0;
    const std::vector<std::int64_t>& queue_bytes;
    const std::vector<std::int64_t>& tx_bytes;
};

}  // namespace sluice
