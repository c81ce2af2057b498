// SPDX-License-Identifier: Apache-2.0
/// What an event wakes where the scenario leaves that to the program (phases.wake = "automatic"): local phases
/// (docs/models/phases.md, Local phases) where nothing would fold and they are known to be right, else partitions.
#pragma once

#include "experiment/build_experiment.h"

namespace sluice {

struct WakeChoice {
    Wake wake = Wake::partition;
    const char* reason = "";  ///< for people, of local phases
};

/// For modes with phases.
WakeChoice choose_wake(const BuiltExperiment& built, HostPorts ports = HostPorts::none);

}  // namespace sluice
