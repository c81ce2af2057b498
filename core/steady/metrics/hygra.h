// SPDX-License-Identifier: Apache-2.0
/// Bandwidth over a sample, then queues, several rounds in a row (HyGra section IV-A).
#pragma once

#include "core/steady/metrics/metric_rule.h"

namespace sluice::steady {

struct HygraMetric : MetricRule {
    static constexpr bool kReadsQueues = true;
    static constexpr bool kCompares = true;

    /// Bits/s since the reading before; the last value while nothing was acknowledged.
    static double value(const FlowReading& reading, const FlowReading* before, double last) {
        if (before == nullptr || reading.progress <= before->progress) {
            return last;
        }
        return static_cast<double>(reading.acked - before->acked) /
               static_cast<double>(reading.progress - before->progress) * (8.0 * kSecond);
    }
    static double allowed_range(const DetectorSettings& settings, const GroupFacts& facts, double) {
        return settings.eps_bw * static_cast<double>(facts.line_rate);
    }
    static int rounds(const DetectorSettings& settings) { return settings.stable_rounds; }
};

}  // namespace sluice::steady
