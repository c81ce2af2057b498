// SPDX-License-Identifier: Apache-2.0
/// The list of restorers: what is in the queues when a steady phase ends (phases.restore), besides what
/// was there when it began. A restorer is a class (core/hybrid/restorer.h) with a header of its own; it
/// joins by the two lines below. It is asked once per skip, never for a packet.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/hybrid/phase_config.h"
#include "restore/empty_queues.h"
#include "restore/predicted_queues.h"
#include "restore/shipped_model.h"

// clang-format off
#define SLUICE_RESTORERS(RESTORER)                                                  \
    RESTORER(empty, restore::EmptyQueues)                                           \
    RESTORER(last_mean, restore::Predicted<restore::PredictorKind::last_mean>)      \
    RESTORER(linear, restore::Predicted<restore::PredictorKind::linear>)            \
    RESTORER(transformer, restore::Predicted<restore::PredictorKind::transformer>)
// clang-format on

namespace sluice {

#define SLUICE_RESTORER(name, Class) name,
enum class Restoration : std::uint8_t {
    hold,  ///< packets stay as they were paused (Wormhole's packet pausing)
    SLUICE_RESTORERS(SLUICE_RESTORER)
};
#undef SLUICE_RESTORER

/// Every choice by its word.
inline std::vector<std::pair<const char*, Restoration>> restorer_words() {
#define SLUICE_RESTORER(name, Class) {#name, Restoration::name},
    return {{"hold", Restoration::hold}, SLUICE_RESTORERS(SLUICE_RESTORER)};
#undef SLUICE_RESTORER
}

/// By the configuration and the law, or by nothing.
template <class Class>
std::unique_ptr<hybrid::Restorer> new_restorer(const PhaseConfig& config, congestion::Law law) {
    if constexpr (std::is_default_constructible_v<Class>) {
        return std::make_unique<Class>();
    } else {
        return std::make_unique<Class>(config, law);
    }
}

/// That of config.restore; null if packets stay as they were.
inline std::unique_ptr<hybrid::Restorer> make_restorer(const PhaseConfig& config,
                                                       congestion::Law law) {
    switch (config.restore) {
        case Restoration::hold: break;
#define SLUICE_RESTORER(name, Class) \
    case Restoration::name: return new_restorer<Class>(config, law);
            SLUICE_RESTORERS(SLUICE_RESTORER)
#undef SLUICE_RESTORER
    }
    return nullptr;
}

/// The model's file that the restorer of config.restore reads; empty: it reads none.
inline std::string restorer_model(const PhaseConfig& config) {
    const auto file = [&](bool reads) {
        if (!reads) return std::string();
        return config.restore_model.empty() ? restore::shipped_model_path() : config.restore_model;
    };
    switch (config.restore) {
        case Restoration::hold: break;
#define SLUICE_RESTORER(name, Class) \
    case Restoration::name: return file(!std::is_default_constructible_v<Class>);
            SLUICE_RESTORERS(SLUICE_RESTORER)
#undef SLUICE_RESTORER
    }
    return "";
}

}  // namespace sluice
