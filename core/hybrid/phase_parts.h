// SPDX-License-Identifier: Apache-2.0
/// The parts of a phase controller that its stages, and who defers flows, work with.
#pragma once

#include "core/clocks/copy_notes.h"
#include "core/clocks/flow_partitions.h"
#include "core/hybrid/group_members.h"
#include "core/hybrid/host_timers.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/phase_report.h"
#include "core/units.h"

namespace sluice::hybrid {

struct PhaseParts {
    PhaseEngine& engine;
    const step::FlowPartitions& partitions;
    GroupTable& groups;
    GroupMembers& members;
    HostTimers& timers;
    PhaseReport& report;
    step::CopyNotes& notes;
    const PhaseConfig& config;
    Tick stop = kNever;  ///< nothing is skipped to or beyond it
};

}  // namespace sluice::hybrid
