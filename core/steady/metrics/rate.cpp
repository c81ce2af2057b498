// SPDX-License-Identifier: Apache-2.0
/// The law's rate (Wormhole).
#include "core/steady/detectors.h"
#include "core/steady/metrics/metric_rule.h"
#include "core/steady/range_detector.h"

namespace sluice::steady {

namespace {

struct RateMetric : MetricRule {
    static constexpr bool kIsLawRate = true;

    static double value(const FlowReading& reading, const FlowReading*, double) {
        return static_cast<double>(reading.rate);
    }
};

}  // namespace

std::unique_ptr<Detector> make_rate_detector(const DetectorSettings& settings) {
    return std::make_unique<RangeDetector<RateMetric>>(settings);
}

}  // namespace sluice::steady
