// SPDX-License-Identifier: Apache-2.0
#include "core/steady/detectors.h"

namespace sluice::steady {

std::unique_ptr<Detector> make_detector(const DetectorSettings& settings) {
    switch (settings.kind) {
#define SLUICE_DETECTOR(name) \
    case DetectorKind::name: return make_##name##_detector(settings);
        SLUICE_DETECTORS(SLUICE_DETECTOR)
#undef SLUICE_DETECTOR
    }
    return make_rate_detector(settings);
}

}  // namespace sluice::steady
