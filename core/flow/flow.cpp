// SPDX-License-Identifier: Apache-2.0
#include "core/flow/flow.h"

#include <algorithm>
#include <unordered_map>

namespace sluice {

ConnectionId connection_count(const std::vector<FlowSpec>& flows) {
    ConnectionId count = 0;
    for (const FlowSpec& flow : flows) {
        if (flow.connection != kNone) count = std::max(count, flow.connection + 1);
    }
    return count;
}

void assign_source_ports(std::vector<FlowSpec>& flows) {
    constexpr std::uint16_t kFirst = 10000;
    constexpr std::uint16_t kLast = 65535;
    std::unordered_map<std::uint64_t, std::uint32_t> used;  // per (src, dst): ports given out
    std::vector<std::uint16_t> port_of(connection_count(flows), 0);
    for (FlowSpec& flow : flows) {
        const bool shared = flow.connection != kNone && !flow.own_port;
        if (shared && port_of[flow.connection] != 0) {
            flow.sport = port_of[flow.connection];
            continue;
        }
        std::uint32_t& count = used[static_cast<std::uint64_t>(flow.src) << 32 | flow.dst];
        // Beyond 55,536 ports of one pair the 16-bit port wraps to the first one again, where
        // ns-3 would run into the well-known ports: only the ECMP hash sees it.
        flow.sport = static_cast<std::uint16_t>(kFirst + count % (kLast - kFirst + 1));
        ++count;
        if (shared) port_of[flow.connection] = flow.sport;
    }
}

}  // namespace sluice
