// SPDX-License-Identifier: Apache-2.0
/// Lists of flows. HPCC ns-3's flow.txt: a count, then `src dst pg dport size start` per flow, start
/// in seconds; conweave-ns3's has no dport. Which it is, the words of the first flow's line say. Or a
/// CSV with a header (workloads/hpcc/flow_csv.h).
#pragma once

#include <string>
#include <vector>

#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/text/tokens.h"
#include "core/topology/topology.h"
#include "core/topology/topology_io.h"

namespace sluice {

/// The flows, sorted by start (equal ones in file order), with source ports. Starts without a unit
/// are exact, or ns-3's (2.001 s is 2,000,999,999 ns); those of a CSV are exact. `format`, if given,
/// gets what the list was taken for. Every flow's destination must be reachable. Fewer
/// flows than the count says are an error. More are not read, as in ns-3, whose own example has
/// them; that and text after the last flow go into `notes`.
std::vector<FlowSpec> read_hpcc_flows(TokenReader reader, const Topology& topology,
                                      const Routing& routing, std::vector<std::string>& notes,
                                      DelayReading starts = DelayReading::ns3,
                                      std::string* format = nullptr);

/// The text of a flow.txt, sorted by start: reads back as the same flows, with starts cut to whole
/// nanoseconds. Every flow must have a start time (InternalError).
std::string format_hpcc_flows(std::vector<FlowSpec> flows);

/// HPCC ns-3's trace.txt: a count, then ids of nodes to trace; unknown ids are left out.
std::vector<NodeId> read_hpcc_trace_nodes(TokenReader reader, const Topology& topology);

}  // namespace sluice
