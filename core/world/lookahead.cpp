// SPDX-License-Identifier: Apache-2.0
#include "core/world/lookahead.h"

#include <algorithm>

#include "core/error.h"
#include "core/packet/order.h"

namespace sluice::step {

namespace {

constexpr Tick kLongestWindow = Tick{1} << 31;

}  // namespace

Tick link_lookahead(const Link& link, const NetworkConfig& config) {
    const PacketFormat& format = config.format;
    const std::int64_t least_payload = config.trim.threshold > 0 ? 0 : 1;  // trimmed: none
    const std::int64_t smallest =
        std::min<std::int64_t>({std::int64_t{format.header} + format.extra_header + least_payload,
                                format.ack, config.pfc ? format.pause : format.ack});
    const Tick frame = serialization_time(smallest, link.rate, config.arithmetic);
    // A link of many packets per window must not overflow an arrival key.
    const Tick longest = std::max<Tick>(frame, 1) * (kMaxWindowPackets - 1);
    return std::min({kLongestWindow, longest, link.delay + frame});
}

Tick network_lookahead(const Topology& topology, const NetworkConfig& config) {
    Tick lookahead = kLongestWindow;
    for (const Link& link : topology.links()) {
        lookahead = std::min(lookahead, link_lookahead(link, config));
    }
    if (lookahead <= 0) {
        throw ConfigError(
            "a link without delay is so fast that its smallest packet takes no time; allowed: a "
            "delay, or a lower rate");
    }
    return lookahead;
}

}  // namespace sluice::step
