// SPDX-License-Identifier: Apache-2.0
/// Queues alone (Wormhole). The allowed range is that of eq. 16: N x RTT x theta x C / N.
#include "core/steady/detectors.h"
#include "core/steady/metrics/metric_rule.h"
#include "core/steady/range_detector.h"

namespace sluice::steady {

namespace {

struct QueueMetric : MetricRule {
    static constexpr bool kReadsFlows = false;
    static constexpr bool kReadsQueues = true;
};

}  // namespace

std::unique_ptr<Detector> make_queue_detector(const DetectorSettings& settings) {
    return std::make_unique<RangeDetector<QueueMetric>>(settings);
}

}  // namespace sluice::steady
