// SPDX-License-Identifier: Apache-2.0
/// The list of restorers: what is in the queues when a steady phase ends (phases.restore), besides what
/// was there when it began. A restorer is a class (core/hybrid/restorer.h) with a header of its own; it
/// joins by the two lines below. It is asked once per skip, never for a packet.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/hybrid/phase_config.h"
#include "restore/empty_queues.h"

// clang-format off
#define SLUICE_RESTORERS(RESTORER)         \
    RESTORER(empty, restore::EmptyQueues)
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

/// Null if packets stay as they were.
inline std::unique_ptr<hybrid::Restorer> make_restorer(Restoration restore) {
    switch (restore) {
        case Restoration::hold: break;
#define SLUICE_RESTORER(name, Class) \
    case Restoration::name: return std::make_unique<Class>();
            SLUICE_RESTORERS(SLUICE_RESTORER)
#undef SLUICE_RESTORER
    }
    return nullptr;
}

}  // namespace sluice
