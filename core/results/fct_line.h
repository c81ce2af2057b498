// SPDX-License-Identifier: Apache-2.0
/// A line of fct.txt in HPCC ns-3's layout:
///   <sip %08x> <dip %08x> <sport> <dport> <size B> <start ns> <fct ns> <standalone fct ns>
/// Times are whole nanoseconds: start and FCT truncated, the standalone FCT rounded up.
#pragma once

#include <cstdint>
#include <string>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice {

/// 11.(id/256).(id%256).1, the address that HPCC ns-3 gives to a host.
std::uint32_t host_address(NodeId host);

/// The line with its end, for a finished flow.
std::string fct_line(const FlowSpec& flow, const FlowResult& result, Tick standalone);

}  // namespace sluice
