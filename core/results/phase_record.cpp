// SPDX-License-Identifier: Apache-2.0
#include "core/results/phase_record.h"

#include "core/error.h"

namespace sluice {

const char* phase_name(Phase phase) {
    switch (phase) {
        case Phase::unsteady: return "unsteady";
        case Phase::steady: return "steady";
        case Phase::memoized: return "memoized";
    }
    throw InternalError("unknown phase");
}

const char* phase_end_name(PhaseEnd end) {
    switch (end) {
        case PhaseEnd::steady_found: return "steady found";
        case PhaseEnd::flow_entered: return "flow entered";
        case PhaseEnd::flow_finished: return "flow finished";
        case PhaseEnd::finisher_near: return "finisher near";
        case PhaseEnd::cap: return "cap";
        case PhaseEnd::link_event: return "link event";
        case PhaseEnd::merged: return "merged";
        case PhaseEnd::idle: return "idle";
        case PhaseEnd::run_end: return "run end";
        case PhaseEnd::acks_changed: return "ACKs changed";
    }
    throw InternalError("unknown end of a phase");
}

}  // namespace sluice
