// SPDX-License-Identifier: Apache-2.0
/// The list of rate sources: where the rates of a steady phase come from (phases.rates), besides
/// being measured. A source is a class (core/hybrid/rate_source.h) with a header of its own; it joins
/// by the two lines below. It is asked once per skip, never for a packet.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/hybrid/phase_config.h"
#include "flowlevel/max_min_rates.h"

// clang-format off
#define SLUICE_RATE_SOURCES(SOURCE)        \
    SOURCE(maxmin, flowlevel::MaxMinRates)
// clang-format on

namespace sluice {

#define SLUICE_SOURCE(name, Source) name,
enum class SteadyRates : std::uint8_t {
    measured,  ///< mean over the observed span (Wormhole eq. 7)
    SLUICE_RATE_SOURCES(SLUICE_SOURCE)
};
#undef SLUICE_SOURCE

/// Every choice by its word.
inline std::vector<std::pair<const char*, SteadyRates>> rate_source_words() {
#define SLUICE_SOURCE(name, Source) {#name, SteadyRates::name},
    return {{"measured", SteadyRates::measured}, SLUICE_RATE_SOURCES(SLUICE_SOURCE)};
#undef SLUICE_SOURCE
}

/// Null if rates are measured.
inline std::unique_ptr<hybrid::RateSource> make_rate_source(SteadyRates rates) {
    switch (rates) {
        case SteadyRates::measured: break;
#define SLUICE_SOURCE(name, Source) \
    case SteadyRates::name: return std::make_unique<Source>();
            SLUICE_RATE_SOURCES(SLUICE_SOURCE)
#undef SLUICE_SOURCE
    }
    return nullptr;
}

}  // namespace sluice
