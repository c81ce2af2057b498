// SPDX-License-Identifier: Apache-2.0
/// One phase of one partition, as phases.csv and trace.json show it.
#pragma once

#include <cstdint>

#include "core/units.h"

namespace sluice {

enum class Phase : std::uint8_t {
    unsteady,  ///< packets
    steady,    ///< skipped
    memoized,  ///< an episode whose flows ended as those of one that was simulated
};

enum class PhaseEnd : std::uint8_t {
    steady_found,   ///< an unsteady phase: the detector's verdict
    flow_entered,   ///< a flow began to use the partition's ports
    flow_finished,  ///< the last ACK of a flow (unsteady)
    finisher_near,  ///< a steady phase: the earliest finisher's last packets
    cap,            ///< a steady phase: as far as extrapolation is trusted; a probe follows
    link_event,     ///< a link failed or was repaired
    merged,         ///< absorbed by another partition
    idle,           ///< nothing is left in it
    run_end,        ///< the run was stopped
    acks_changed,   ///< a steady phase: ACKs of others leave its data more or less than before
};

struct PhaseRecord {
    std::uint32_t partition = 0;
    Phase phase = Phase::unsteady;
    Tick start = 0;
    Tick end = 0;
    PhaseEnd ended_by = PhaseEnd::run_end;
    std::uint32_t flows = 0;         ///< when it began
    std::int64_t bytes_skipped = 0;  ///< payload, over its flows
    std::int64_t hops_saved = 0;     ///< packet-hops
};

/// "unsteady", "steady"; "steady found", "flow entered", ...
const char* phase_name(Phase phase);
const char* phase_end_name(PhaseEnd end);

}  // namespace sluice
