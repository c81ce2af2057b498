// SPDX-License-Identifier: Apache-2.0
/// HPCC ns-3's flow.txt: a count, then `src dst pg dport size start` per flow, start in seconds.
#pragma once

#include <string>
#include <vector>

#include "core/config/tokens.h"
#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice {

/// The flows, sorted by start (equal ones in file order), with ns-3's start times (2.001 s is
/// 2,000,999,999 ns) and source ports. Every flow's destination must be reachable. Text after the
/// last flow goes into `notes`; more or fewer flows than the count says are an error.
std::vector<FlowSpec> read_hpcc_flows(TokenReader reader, const Topology& topology,
                                      const Routing& routing, std::vector<std::string>& notes);

/// HPCC ns-3's trace.txt: a count, then ids of nodes to trace; unknown ids are left out.
std::vector<NodeId> read_hpcc_trace_nodes(TokenReader reader, const Topology& topology);

}  // namespace sluice
