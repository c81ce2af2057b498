// SPDX-License-Identifier: Apache-2.0
/// topology.txt of HPCC ns-3 and its family, and of SimAI. Read token by token, as leniently as
/// the originals: any blanks, ids in any order, any id a switch, trailing text ignored. Parallel
/// links are all used (the original keeps the last).
///
///     HPCC   <nodes> <switches> <links>
///            <switch id> ...                        every other id is a host
///     SimAI  <nodes> <GPUs per server> <NVSwitches> <switches> <links> <GPU type>
///            <NVSwitch id> ... <switch id> ...
///     both   <a> <b> <rate> <delay> <loss>          one per link
///
/// Rates: ns-3 DataRate text, decimal; a bare number is b/s. Delays: s, ms, us, ns, ps, down to
/// whole picoseconds; a bare number is seconds. Loss: probability per received packet; 0 lets the
/// global setting of an HPCC experiment apply.
#pragma once

#include <string>

#include "core/config/tokens.h"
#include "core/topology/topology.h"

namespace sluice {

/// Reads a file. ConfigError with file and line of the offending token.
Topology read_topology(const std::string& path);
/// The same from text that `reader` holds. The topology's name is the reader's file.
Topology read_topology(TokenReader& reader);

/// The text of a file that reads back as the same network: with SimAI's header if there are
/// NVSwitches, servers of several GPUs or a GPU type, else with HPCC's.
std::string format_topology(const Topology& topology);

}  // namespace sluice
