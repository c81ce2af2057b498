// SPDX-License-Identifier: Apache-2.0
/// Between SystemC's time and ticks. A tick is 1 ps, which SystemC's resolution must divide: its default, or
/// as fine as 1 fs.
#pragma once

#include <systemc>

#include "core/units.h"

namespace sluice {

/// Units of SystemC's time in a tick; 0 if its resolution is coarser. To ask fixes the resolution, for all
/// contexts (sc_simcontext) of the process.
inline sc_dt::uint64 units_per_tick() {
    static const sc_dt::uint64 units = sc_core::sc_time(1, sc_core::SC_PS).value();
    return units;
}

/// ConfigError unless ticks can be told in SystemC's time. Fixes its resolution:
/// not before the simulation starts, for a testbench may set it after it has built a network.
void require_resolution();

/// The last tick that SystemC can tell.
inline sc_dt::uint64 last_tick() {
    static const sc_dt::uint64 last = sc_core::sc_max_time().value() / units_per_tick();
    return last;
}
/// Of what is past the last instant that SystemC can tell, that instant.
inline sc_core::sc_time to_sc_time(Tick ticks) {
    const auto count = static_cast<sc_dt::uint64>(ticks);
    return count > last_tick() ? sc_core::sc_max_time()
                               : sc_core::sc_time::from_value(count * units_per_tick());
}
/// The tick that `time` is in, which has begun.
inline Tick to_ticks(const sc_core::sc_time& time) {
    const sc_dt::uint64 units = units_per_tick();
    // Divided only if need be: the default resolution is a tick, and this is asked for every post.
    return static_cast<Tick>(units == 1 ? time.value() : time.value() / units);
}
/// The first tick that is not before `time`.
inline Tick to_ticks_up(const sc_core::sc_time& time) {
    const Tick begun = to_ticks(time);
    return begun + (static_cast<sc_dt::uint64>(begun) * units_per_tick() != time.value() ? 1 : 0);
}
/// From now to `at`, zero if that is past.
sc_core::sc_time until(Tick at);

}  // namespace sluice
