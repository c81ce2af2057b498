// SPDX-License-Identifier: Apache-2.0
/// Bandwidth over a sample, then queues, several rounds in a row (HyGra section IV-A).
#include "core/steady/detectors.h"
#include "core/steady/metrics/metric_rule.h"
#include "core/steady/range_detector.h"

namespace sluice::steady {

namespace {

struct HygraMetric : MetricRule {
    static constexpr bool kReadsQueues = true;
    static constexpr bool kCompares = true;

    static double value(const FlowReading& reading, const FlowReading* before, double last) {
        return acknowledged_rate(reading, before, last);
    }
    static double allowed_range(const DetectorSettings& settings, const GroupFacts& facts, double) {
        return settings.eps_bw * static_cast<double>(facts.line_rate);
    }
    static int rounds(const DetectorSettings& settings) { return settings.stable_rounds; }
};

}  // namespace

std::unique_ptr<Detector> make_hygra_detector(const DetectorSettings& settings) {
    return std::make_unique<RangeDetector<HygraMetric>>(settings);
}

}  // namespace sluice::steady
