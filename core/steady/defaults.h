// SPDX-License-Identifier: Apache-2.0
/// Where a detector's defaults come from: Wormhole's appendix F and the laws' own periods. The
/// model, with every constant's reason, is on docs/models/phases.md.
#pragma once

#include "core/steady/reading.h"

namespace sluice::steady {

/// Round trips that every span covers: base ones by default, and with their queues before a skip.
inline constexpr Tick kRoundTrips = 4;

/// C x RTT of the group in full packets, at least 1.
double bdp_packets(const GroupFacts& facts);

/// Relative amplitude of a rate in its steady state, sqrt(7 N / (16 C RTT)) (Wormhole eq. 22).
double sawtooth_amplitude(const GroupFacts& facts);

/// How long the law may hold still before it acts by itself (congestion::waiting_time).
Tick waiting_time(const GroupFacts& facts);

/// A whole swing of the law's rate around its share; 0: it settles instead of swinging
/// (congestion::swing_period).
Tick sawtooth_period(const GroupFacts& facts);

}  // namespace sluice::steady
