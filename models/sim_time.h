// SPDX-License-Identifier: Apache-2.0
/// Between SystemC's time and ticks. Needs SystemC's default resolution of 1 ps.
#pragma once

#include <systemc>

#include "core/units.h"

namespace sluice {

inline sc_core::sc_time to_sc_time(Tick ticks) {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ticks));
}
inline Tick to_ticks(const sc_core::sc_time& time) { return static_cast<Tick>(time.value()); }

}  // namespace sluice
