// SPDX-License-Identifier: Apache-2.0
#include "core/steady/detectors.h"

namespace sluice::steady {

std::unique_ptr<Detector> make_detector(const DetectorSettings& settings) {
    switch (settings.kind) {
#define SLUICE_DETECTOR(name, Class) \
    case DetectorKind::name: return std::make_unique<Class>(settings);
        SLUICE_DETECTORS(SLUICE_DETECTOR)
#undef SLUICE_DETECTOR
    }
    return std::make_unique<RangeDetector<RateMetric>>(settings);
}

}  // namespace sluice::steady
