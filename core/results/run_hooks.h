// SPDX-License-Identifier: Apache-2.0
/// What a run tells those who watch it while it goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/results/phase_record.h"
#include "core/units.h"

namespace sluice {

/// A PFC frame took effect.
struct PfcEvent {
    Tick at = 0;
    PortId port = 0;  ///< the port that received the frame, i.e. the one that is (un)paused
    bool pause = false;
};

/// Each may be empty. What a mode does not have (pauses and queues in flow mode, phases in packet
/// mode) is never called.
struct RunHooks {
    /// About every `interval` of simulated time (and of wall time, whatever comes first); returns
    /// false to stop the run early. Called between windows.
    std::function<bool(Tick now)> on_progress;
    Tick interval = 100 * kMicrosecond;
    /// Finished flows, in (finish, flow) order.
    std::function<void(const FlowRecord&)> on_finish;
    std::function<void(const PfcEvent&)> on_pfc;
    /// Phases of partitions, when they end.
    std::function<void(const PhaseRecord&)> on_phase;
    /// Queue sampling: called at sample_from, + sample_every, ... <= sample_to with the egress
    /// backlog in bytes of every port after everything before `now` and nothing at `now`.
    std::function<void(Tick now, const std::vector<std::int64_t>& queue_bytes)> on_sample;
    Tick sample_every = 0;
    Tick sample_from = 0;
    Tick sample_to = 0;
    bool checksum = false;  ///< fill RunCounters::hop_checksum
};

}  // namespace sluice
