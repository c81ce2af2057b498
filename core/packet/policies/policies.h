// SPDX-License-Identifier: Apache-2.0
/// What a switch decides by rules that can be exchanged: the step of a switch (core/packet/switch.h)
/// is a template of such a struct. A user's own derives from ScenarioPolicies and hides the functions
/// that it wants otherwise (docs/embedding.md).
#pragma once

#include "core/packet/policies/admission.h"
#include "core/packet/policies/marking.h"
#include "core/packet/policies/scheduler.h"

namespace sluice::step {

/// What the scenario says: each rule by one switch over a small enum.
struct ScenarioPolicies : ScenarioAdmission, ScenarioScheduler, ScenarioMarking {
    /// False: a rule looks beyond the port or queue that it decides on, so that every decision of a
    /// switch must fall in the order of time.
    static constexpr bool kQuietWindows = true;
};

}  // namespace sluice::step
