// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/phase_report.h"

namespace sluice::hybrid {

void FlowTime::add(std::uint64_t flows, Tick each) {
    ticks += flows * static_cast<std::uint64_t>(each);
    seconds += ticks / kSecond;
    ticks %= kSecond;
}

double FlowTime::in_seconds() const {
    return static_cast<double>(seconds) + static_cast<double>(ticks) / static_cast<double>(kSecond);
}

void PhaseReport::add(PhaseRecord record) {
    log_.add(record);
    for (const std::uint32_t id : copies_) {
        record.partition = id;
        log_.add(record);
    }
}

void PhaseReport::end_unsteady(const GroupState& state, Tick end, PhaseEnd why) {
    if (end > state.since) {
        add(PhaseRecord{state.id, Phase::unsteady, state.since, end, why, state.flows_at_start, 0,
                        0});
    }
}

void PhaseReport::add_steady(std::uint64_t flows, Tick each) {
    steady_.add(times() * flows, each);
    counters_.steady_flow_s = steady_.in_seconds();
}

}  // namespace sluice::hybrid
