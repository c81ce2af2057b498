// SPDX-License-Identifier: Apache-2.0
/// What happens at hosts in flow mode, by time.
/// At one instant: arrivals, acknowledgements, starts, timers; each by host, then by the flow's id or
/// the timer's token. Where the engine keeps a flow plays no part.
#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace sluice::flowlevel {

enum class EventKind : std::uint8_t { received, sent, flow_start, application };

struct Event {
    Tick at = 0;
    std::uint64_t id = 0;  ///< flow, or the application's token
    NodeId host = 0;
    FlowSlot flow = kNone;  ///< of a flow's event: where it is kept
    EventKind kind = EventKind::received;

    bool operator>(const Event& other) const {
        if (at != other.at) return at > other.at;
        return std::tie(kind, host, id) > std::tie(other.kind, other.host, other.id);
    }
};

using EventQueue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

}  // namespace sluice::flowlevel
