// SPDX-License-Identifier: Apache-2.0
/// ECN by one threshold (DCTCP, SIGCOMM'10): a packet that leaves kmin bytes or more behind it is
/// marked; kmax and pmax play no part.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

struct ThresholdMarking {
    static constexpr const char* kWord = "threshold";

    SLUICE_HD static bool marks(const World&, PortId, Egress& egress, std::uint32_t backlog) {
        return backlog >= egress.ecn_kmin;
    }
};

}  // namespace sluice::step
