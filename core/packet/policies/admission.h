// SPDX-License-Identifier: Apache-2.0
/// The list of admission rules: how much of a switch's shared buffer one queue may take. A rule is a
/// header that defines a struct with
///   kWord           the word by which scenarios choose it (network.buffer.admission)
///   ingress_limit   with PFC: bytes of the pool that one class of an ingress port may take before
///                   it is paused, given the bytes `left` of the pool. It must not grow when `left`
///                   shrinks, and never exceed it: quiet windows and occupancy bounds rely on that.
///   egress_limit    without PFC: bytes that one egress queue may hold (kNoLimit: all). The same.
/// It joins by the two lines below.
#pragma once

#include <utility>
#include <vector>

#include "core/packet/policies/dynamic_threshold.h"
#include "core/packet/policies/static_threshold.h"

// clang-format off
#define SLUICE_ADMISSIONS(RULE)               \
    RULE(dynamic_threshold, DynamicThreshold) \
    RULE(static_threshold, StaticThreshold)
// clang-format on

namespace sluice {

#define SLUICE_RULE(name, Rule) name,
enum class Admission : std::uint8_t { SLUICE_ADMISSIONS(SLUICE_RULE) };
#undef SLUICE_RULE

/// Every rule by its word.
inline std::vector<std::pair<const char*, Admission>> admission_words() {
#define SLUICE_RULE(name, Rule) {step::Rule::kWord, Admission::name},
    return {SLUICE_ADMISSIONS(SLUICE_RULE)};
#undef SLUICE_RULE
}

namespace step {

/// The scenario's rule.
struct ScenarioAdmission {
#define SLUICE_RULE(name, Rule) \
    case Admission::name: return Rule::ingress_limit(buffer, ingress, left);
    SLUICE_HD static std::int64_t ingress_limit(const World& world, const Ingress& ingress,
                                                std::int64_t left) {
        const BufferConfig& buffer = world.config->buffer;
        switch (buffer.admission) { SLUICE_ADMISSIONS(SLUICE_RULE) }
        return 0;
    }
#undef SLUICE_RULE

#define SLUICE_RULE(name, Rule) \
    case Admission::name: return Rule::egress_limit(buffer, left);
    SLUICE_HD static double egress_limit(const World& world, std::int64_t left) {
        const BufferConfig& buffer = world.config->buffer;
        switch (buffer.admission) { SLUICE_ADMISSIONS(SLUICE_RULE) }
        return 0;
    }
#undef SLUICE_RULE
};

}  // namespace step
}  // namespace sluice
