// SPDX-License-Identifier: Apache-2.0
/// The list of detectors. One is a source file that defines make_NAME_detector(), of a class derived from Detector or of a
/// metric for RangeDetector (core/steady/metrics/metric_rule.h); it joins by a line below. Its name is also the word by
/// which scenarios choose it (phases.detector).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/steady/detector.h"

// clang-format off
#define SLUICE_DETECTORS(DETECTOR) \
    DETECTOR(rate)                 \
    DETECTOR(hygra)                \
    DETECTOR(inflight)             \
    DETECTOR(queue)
// clang-format on

namespace sluice::steady {

#define SLUICE_DETECTOR(name) name,
enum class DetectorKind : std::uint8_t { SLUICE_DETECTORS(SLUICE_DETECTOR) };
#undef SLUICE_DETECTOR

/// Every detector by its word.
inline std::vector<std::pair<const char*, DetectorKind>> detector_words() {
#define SLUICE_DETECTOR(name) {#name, DetectorKind::name},
    return {SLUICE_DETECTORS(SLUICE_DETECTOR)};
#undef SLUICE_DETECTOR
}

#define SLUICE_DETECTOR(name) \
    std::unique_ptr<Detector> make_##name##_detector(const DetectorSettings& settings);
SLUICE_DETECTORS(SLUICE_DETECTOR)
#undef SLUICE_DETECTOR

/// The detector that `settings` ask for.
std::unique_ptr<Detector> make_detector(const DetectorSettings& settings);

}  // namespace sluice::steady
