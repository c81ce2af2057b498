// SPDX-License-Identifier: Apache-2.0
#include "core/flow/flow.h"

#include <unordered_map>

namespace sluice {

void assign_source_ports(std::vector<FlowSpec>& flows) {
    constexpr std::uint16_t kFirst = 10000;
    constexpr std::uint16_t kLast = 65535;
    std::unordered_map<std::uint64_t, std::uint32_t> used;  // per (src, dst): ports given out
    used.reserve(flows.size());
    for (FlowSpec& flow : flows) {
        std::uint32_t& count = used[static_cast<std::uint64_t>(flow.src) << 32 | flow.dst];
        // Beyond 55,536 flows of one pair the 16-bit port wraps to the first one again, where
        // ns-3 would run into the well-known ports: only the ECMP hash sees it.
        flow.sport = static_cast<std::uint16_t>(kFirst + count % (kLast - kFirst + 1));
        ++count;
    }
}

}  // namespace sluice
