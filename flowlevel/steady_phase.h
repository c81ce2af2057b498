// SPDX-License-Identifier: Apache-2.0
/// The rates of a steady phase, HyGra's flow level (papers: HyGra, sections IV-B and V-B):
///     B_init = min(B_inst, B_min)                                    (2)
///     B      = B_init + residue shared by weight                     (3)
/// Eq. 3 is written for one link. Over many, B_init is what each flow is given first and the residue
/// is shared max-min by weight (max_min.h), which on one link is eq. 3. If the B_init of a link
/// exceed its capacity they are cut in proportion, where eq. 3 would share a negative residue.
/// When the phase ends (eq. 4 to 8) is the phase controller's to say, which knows the packets in flight.
#pragma once

#include <vector>

#include "flowlevel/max_min.h"

namespace sluice::flowlevel {

/// Traffic is counted in bytes of payload, rates in bytes per picosecond.
struct SteadyFlow {
    std::vector<LinkUse> links;  ///< bytes on the link per byte of payload, by its path and ACKs
    double instantaneous = 0;    ///< B_inst, >= 0
    double guaranteed = 0;       ///< B_min, >= 0
    double weight = 1;           ///< W, > 0
    double cap = kUnlimited;     ///< more than this it cannot send; may be below B_init
};

/// B, by flow.
std::vector<double> steady_rates(const std::vector<SteadyFlow>& flows,
                                 const std::vector<double>& capacities);

}  // namespace sluice::flowlevel
