// SPDX-License-Identifier: Apache-2.0
/// The list of marking rules: which packets leave a switch with an ECN mark. A rule is a header that
/// defines a struct with
///   kWord   the word by which scenarios choose it (network.ecn.marking)
///   marks   is the packet marked that leaves a class queue with `backlog` bytes? It is asked only
///           where that is at least kmin (Egress::ecn_kmin).
/// It joins by the two lines below.
#pragma once

#include <utility>
#include <vector>

#include "core/packet/policies/red_marking.h"
#include "core/packet/policies/threshold_marking.h"

// clang-format off
#define SLUICE_MARKINGS(RULE)                 \
    RULE(red_marking, RedMarking)             \
    RULE(threshold_marking, ThresholdMarking)
// clang-format on

namespace sluice {

#define SLUICE_RULE(name, Rule) name,
enum class Marking : std::uint8_t { SLUICE_MARKINGS(SLUICE_RULE) };
#undef SLUICE_RULE

/// Every rule by its word.
inline std::vector<std::pair<const char*, Marking>> marking_words() {
#define SLUICE_RULE(name, Rule) {step::Rule::kWord, Marking::name},
    return {SLUICE_MARKINGS(SLUICE_RULE)};
#undef SLUICE_RULE
}

namespace step {

/// The scenario's rule.
struct ScenarioMarking {
#define SLUICE_RULE(name, Rule) \
    case Marking::name: return Rule::marks(world, port, egress, backlog);
    SLUICE_HD static bool marks(const World& world, PortId port, Egress& egress,
                                std::uint32_t backlog) {
        if (backlog < egress.ecn_kmin) {
            return false;
        }
        switch (world.config->marking) { SLUICE_MARKINGS(SLUICE_RULE) }
        return false;
    }
#undef SLUICE_RULE
};

}  // namespace step
}  // namespace sluice
