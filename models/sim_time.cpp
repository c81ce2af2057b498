// SPDX-License-Identifier: Apache-2.0
#include "models/sim_time.h"

#include <string>

#include "core/error.h"
#include "models/report.h"

namespace sluice {

void require_resolution() {
    if (units_per_tick() == 0) {
        throw ConfigError("SystemC's time resolution is " +
                          sc_core::sc_get_time_resolution().to_string() +
                          ", the network counts picoseconds; allowed: 1 ps, SystemC's default, or "
                          "finer (sc_set_time_resolution)");
    }
}

sc_core::sc_time until(Tick at) {
    const auto count = static_cast<sc_dt::uint64>(at);
    if (count >= last_tick()) {
        refuse("sluice/clock",
               "what is due at " + std::to_string(at) +
                   " ps is past the last instant of SystemC's time at a resolution of " +
                   sc_core::sc_get_time_resolution().to_string());
    }
    const sc_core::sc_time time = sc_core::sc_time::from_value(count * units_per_tick());
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    return time > now ? time - now : sc_core::SC_ZERO_TIME;
}

}  // namespace sluice
