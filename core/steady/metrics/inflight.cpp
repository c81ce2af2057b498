// SPDX-License-Identifier: Apache-2.0
/// Bytes in flight (Wormhole).
#include "core/steady/detectors.h"
#include "core/steady/metrics/metric_rule.h"
#include "core/steady/range_detector.h"

namespace sluice::steady {

namespace {

struct InflightMetric : MetricRule {
    static double value(const FlowReading& reading, const FlowReading*, double) {
        return static_cast<double>(reading.in_flight);
    }
};

}  // namespace

std::unique_ptr<Detector> make_inflight_detector(const DetectorSettings& settings) {
    return std::make_unique<RangeDetector<InflightMetric>>(settings);
}

}  // namespace sluice::steady
