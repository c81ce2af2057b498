// SPDX-License-Identifier: Apache-2.0
/// Queues alone (Wormhole). The allowed range is that of eq. 16: N x RTT x theta x C / N.
#pragma once

#include "core/steady/metrics/metric_rule.h"

namespace sluice::steady {

struct QueueMetric : MetricRule {
    static constexpr bool kReadsFlows = false;
    static constexpr bool kReadsQueues = true;
};

}  // namespace sluice::steady
