// SPDX-License-Identifier: Apache-2.0
/// The list of detectors. One is a header that defines a class derived from Detector, or a metric for RangeDetector
/// (core/steady/metrics/metric_rule.h); it joins by the two lines below. Its name is also the word by which scenarios choose
/// it (phases.detector).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/steady/metrics/hygra.h"
#include "core/steady/metrics/inflight.h"
#include "core/steady/metrics/queue.h"
#include "core/steady/metrics/rate.h"
#include "core/steady/range_detector.h"

// clang-format off
#define SLUICE_DETECTORS(DETECTOR)                 \
    DETECTOR(rate, RangeDetector<RateMetric>)         \
    DETECTOR(hygra, RangeDetector<HygraMetric>)       \
    DETECTOR(inflight, RangeDetector<InflightMetric>) \
    DETECTOR(queue, RangeDetector<QueueMetric>)
// clang-format on

namespace sluice::steady {

#define SLUICE_DETECTOR(name, Class) name,
enum class DetectorKind : std::uint8_t { SLUICE_DETECTORS(SLUICE_DETECTOR) };
#undef SLUICE_DETECTOR

/// Every detector by its word.
inline std::vector<std::pair<const char*, DetectorKind>> detector_words() {
#define SLUICE_DETECTOR(name, Class) {#name, DetectorKind::name},
    return {SLUICE_DETECTORS(SLUICE_DETECTOR)};
#undef SLUICE_DETECTOR
}

/// The detector that `settings` ask for.
std::unique_ptr<Detector> make_detector(const DetectorSettings& settings);

}  // namespace sluice::steady
