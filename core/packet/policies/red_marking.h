// SPDX-License-Identifier: Apache-2.0
/// ECN as DCQCN's switches mark (SIGCOMM'15; HPCC ns-3): never up to kmin, linear from kmin to kmax,
/// certain above.
#pragma once

#include "core/packet/state.h"
#include "core/random.h"

namespace sluice::step {

/// Random stream of a port (core/random.h).
inline constexpr std::uint64_t kEcnDraws = 0x65636e;

struct RedMarking {
    static constexpr const char* kWord = "red";

    SLUICE_HD static bool marks(const World& world, PortId port, Egress& egress,
                                std::uint32_t backlog) {
        if (backlog <= egress.ecn_kmin) {
            return false;
        }
        if (backlog > egress.ecn_kmax) {
            return true;
        }
        const double probability = egress.ecn_pmax *
                                   static_cast<double>(backlog - egress.ecn_kmin) /
                                   (egress.ecn_kmax - egress.ecn_kmin);
        return uniform(world.config->seed, random_stream(kEcnDraws, port), egress.ecn_draws++) <
               probability;
    }
};

}  // namespace sluice::step
