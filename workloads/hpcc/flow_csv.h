// SPDX-License-Identifier: Apache-2.0
/// A list of flows as CSV with a header, from spreadsheets, scripts, and Sluice's own flows.csv:
///     src,dst,bytes,start_us[,priority][,dport]
/// Columns in any order, named as below, whatever their case; others are skipped, and told. Blank
/// lines and lines that begin with # are, too. No quoting.
///     src, source; dst, destination; bytes, size, size_bytes: whole bytes, or with a unit, "8MB"
///     start, start_s, start_ms, start_us, start_ns, start_ps: exact, in the unit that the name or the
///     value has ("10us"); absent: 0. priority, pg: 1 to 7 (3); dport, port: 0 to 65535 (100).
#pragma once

#include <string>
#include <vector>

#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/text/tokens.h"
#include "core/topology/topology.h"

namespace sluice {

/// The first line that is not blank holds a comma, and a letter before any digit.
bool is_flow_csv(TokenReader& reader);

/// The flows in file order. `notes` gets the columns that are skipped. ConfigError with file and line.
std::vector<FlowSpec> read_flow_csv(TokenReader& reader, const Topology& topology,
                                    const Routing& routing, std::vector<std::string>& notes);

}  // namespace sluice
