// SPDX-License-Identifier: Apache-2.0
/// Between SystemC's time and ticks. A tick is 1 ps, which SystemC's resolution must divide: its default, or
/// as fine as 1 fs.
#pragma once

#include <systemc>

#include "core/units.h"

namespace sluice {

/// Units of SystemC's time in a tick; 0 if its resolution is coarser.
inline sc_dt::uint64 units_per_tick() { return sc_core::sc_time(1, sc_core::SC_PS).value(); }

/// ConfigError unless ticks can be told in SystemC's time. Fixes its resolution:
/// not before the simulation starts, for a testbench may set it after it has built a network.
void require_resolution();

/// Of what is past the last instant that SystemC can tell, that instant.
inline sc_core::sc_time to_sc_time(Tick ticks) {
    const sc_dt::uint64 units = units_per_tick();
    const auto count = static_cast<sc_dt::uint64>(ticks);
    return count > sc_core::sc_max_time().value() / units
               ? sc_core::sc_max_time()
               : sc_core::sc_time::from_value(count * units);
}
/// The tick that `time` is in, which has begun.
inline Tick to_ticks(const sc_core::sc_time& time) {
    return static_cast<Tick>(time.value() / units_per_tick());
}
/// The first tick that is not before `time`.
inline Tick to_ticks_up(const sc_core::sc_time& time) {
    const sc_dt::uint64 units = units_per_tick();
    return static_cast<Tick>(time.value() / units + (time.value() % units != 0 ? 1 : 0));
}
/// From now to `at`, zero if that is past.
sc_core::sc_time until(Tick at);

}  // namespace sluice
