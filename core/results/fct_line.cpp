// SPDX-License-Identifier: Apache-2.0
#include "core/results/fct_line.h"

#include <cinttypes>
#include <cstdio>

namespace sluice {

std::uint32_t host_address(NodeId host) {
    return 0x0b000001U + ((host / 256) << 16) + ((host % 256) << 8);
}

std::string fct_line(const FlowSpec& flow, const FlowResult& result, Tick standalone) {
    char line[160];
    const int length = std::snprintf(
        line, sizeof line,
        "%08" PRIx32 " %08" PRIx32 " %u %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
        host_address(flow.src), host_address(flow.dst), unsigned{flow.sport}, unsigned{flow.dport},
        flow.size, result.start / kNanosecond, (result.finish - result.start) / kNanosecond,
        (standalone + kNanosecond - 1) / kNanosecond);
    return {line, static_cast<std::size_t>(length)};
}

}  // namespace sluice
