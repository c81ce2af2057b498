// SPDX-License-Identifier: Apache-2.0
/// The list of schedulers: which of several waiting classes a switch port serves. A scheduler is a
/// header that defines a struct with
///   kWord   the word by which scenarios choose it (network.queues.scheduler)
///   pick    one of the classes in `mask`, bits 1 to 7, at least two of them set: all have packets
///           and none is paused. Its memory is Egress::last_class and Egress::deficit.
/// It joins by the two lines below.
#pragma once

#include <utility>
#include <vector>

#include "core/packet/policies/deficit_round_robin.h"
#include "core/packet/policies/strict_priority.h"

// clang-format off
#define SLUICE_SCHEDULERS(RULE)                  \
    RULE(deficit_round_robin, DeficitRoundRobin) \
    RULE(strict_priority, StrictPriority)
// clang-format on

namespace sluice {

#define SLUICE_RULE(name, Rule) name,
enum class Scheduler : std::uint8_t { SLUICE_SCHEDULERS(SLUICE_RULE) };
#undef SLUICE_RULE

/// Every scheduler by its word.
inline std::vector<std::pair<const char*, Scheduler>> scheduler_words() {
#define SLUICE_RULE(name, Rule) {step::Rule::kWord, Scheduler::name},
    return {SLUICE_SCHEDULERS(SLUICE_RULE)};
#undef SLUICE_RULE
}

namespace step {

/// The scenario's scheduler.
struct ScenarioScheduler {
#define SLUICE_RULE(name, Rule) \
    case Scheduler::name: return Rule::pick(world, egress, mask);
    SLUICE_HD static std::uint32_t pick(const World& world, Egress& egress, std::uint32_t mask) {
        switch (world.config->queues.scheduler) { SLUICE_SCHEDULERS(SLUICE_RULE) }
        return 0;
    }
#undef SLUICE_RULE
};

}  // namespace step
}  // namespace sluice
