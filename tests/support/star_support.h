// SPDX-License-Identifier: Apache-2.0
/// Stars on which times are worked out by hand.
#pragma once

#include <vector>

#include "tests/support/step_support.h"

namespace sluice::test {

inline constexpr Tick kFrame = 1048 * 80;  ///< 1000 bytes of payload, 48 of headers, at 100 Gb/s

/// `hosts` around one switch, 100 Gb/s (80 ps a byte) and 1 us each, without law and window; sizes on
/// the wire as in most cases: payload 1000, 48 bytes of headers, ACKs of 60 bytes.
inline Case lawless_star(std::int64_t hosts) {
    StarParams params;
    params.hosts = hosts;
    Case given;
    given.topology = build_star(params);
    given.config = config_for(congestion::Law::none);
    given.config.congestion.window = false;
    return given;
}

/// As many hosts of a star as there are priorities send to the last one at once, each in its class; the
/// buffer holds everything.
inline Case classes_to_one(const std::vector<std::uint8_t>& priorities, std::int64_t size) {
    Case given = lawless_star(static_cast<std::int64_t>(priorities.size()) + 1);
    given.config.buffer.size = mebibytes(1024);
    const auto sink = static_cast<NodeId>(priorities.size());
    for (NodeId src = 0; src < sink; ++src) {
        given.flows.push_back(flow(src, sink, size, 0, priorities[src]));
    }
    assign_source_ports(given.flows);
    return given;
}

/// `senders` hosts of a star send `size` bytes each to the last one at once, under a law.
inline Case incast(congestion::Law law, std::int64_t senders, std::int64_t size) {
    Case given = lawless_star(senders + 1);
    given.config = config_for(law);
    for (NodeId src = 0; src < static_cast<NodeId>(senders); ++src) {
        given.flows.push_back(flow(src, static_cast<NodeId>(senders), size, 0));
    }
    assign_source_ports(given.flows);
    given.name = congestion::law_name(law);
    return given;
}

}  // namespace sluice::test
