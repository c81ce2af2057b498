// SPDX-License-Identifier: Apache-2.0
/// The rates and the length of a steady phase, HyGra's flow level (papers: HyGra, sections IV-B and
/// V-B):
///     B_init = min(B_inst, B_min)                                    (2)
///     B      = B_init + residue shared by weight                     (3)
///     tau    = L / B, the phase lasts until the first flow ends      (4), (5)
///     L      = size - transmitted                                    (6)
///     dtau   = sum over the path of queue / capacity                 (7)
///     tau'   = tau + dtau                                            (8)
/// Eq. 3 is written for one link. Over many, B_init is what each flow is given first and the residue
/// is shared max-min by weight (max_min.h), which on one link is eq. 3. If the B_init of a link
/// exceed its capacity they are cut in proportion, where eq. 3 would share a negative residue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flowlevel/max_min.h"

namespace sluice::flowlevel {

/// Traffic is counted in bytes of payload, rates in bytes per picosecond, times in picoseconds.
struct SteadyFlow {
    std::vector<LinkUse> links;  ///< bytes on the link per byte of payload, by its path and ACKs
    double instantaneous = 0;    ///< B_inst, >= 0
    double guaranteed = 0;       ///< B_min, >= 0
    double weight = 1;           ///< W, > 0
    double cap = kUnlimited;     ///< more than this it cannot send; may be below B_init
    double remaining = 0;        ///< L, >= 0
    std::vector<std::uint32_t> queues;  ///< links whose queues eq. 7 adds up, those of its data
};

struct SteadyPhase {
    std::vector<double> rates;  ///< B, by flow
    /// tau' by flow, from the start of the phase; infinite at rate 0.
    std::vector<double> completions;
    /// tau of the first flow to have sent its last byte, and which; infinite and the number of flows
    /// if none ever does.
    double duration = kUnlimited;
    std::size_t first = 0;
};

/// `queue_bytes` by link: bytes waiting at its transmitter when the phase begins. Links of capacity
/// 0 add no delay: a flow over one has rate 0.
SteadyPhase steady_phase(const std::vector<SteadyFlow>& flows,
                         const std::vector<double>& capacities,
                         const std::vector<double>& queue_bytes);

}  // namespace sluice::flowlevel
