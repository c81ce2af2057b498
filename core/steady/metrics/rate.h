// SPDX-License-Identifier: Apache-2.0
/// The law's rate (Wormhole).
#pragma once

#include "core/steady/metrics/metric_rule.h"

namespace sluice::steady {

struct RateMetric : MetricRule {
    static constexpr bool kIsLawRate = true;

    static double value(const FlowReading& reading, const FlowReading*, double) {
        return static_cast<double>(reading.rate);
    }
};

}  // namespace sluice::steady
