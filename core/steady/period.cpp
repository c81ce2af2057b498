// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/steady/detector.h"

namespace sluice::steady {

Tick sampling_period(const GroupFacts& facts) {
    constexpr Tick kSamplesPerRoundTrip = 4;
    constexpr std::int64_t kPackets = 4;
    const Tick packet = facts.line_rate > 0 ? serialization_time(facts.payload, Rate{facts.line_rate},
                                                                 Arithmetic::exact)
                                            : 0;
    return std::max({facts.base_rtt / kSamplesPerRoundTrip, kPackets * packet, Tick{kNanosecond}});
}

}  // namespace sluice::steady
