// SPDX-License-Identifier: Apache-2.0
/// Bytes in flight (Wormhole).
#pragma once

#include "core/steady/metrics/metric_rule.h"

namespace sluice::steady {

struct InflightMetric : MetricRule {
    static double value(const FlowReading& reading, const FlowReading*, double) {
        return static_cast<double>(reading.in_flight);
    }
};

}  // namespace sluice::steady
