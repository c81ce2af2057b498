// SPDX-License-Identifier: Apache-2.0
/// topology.txt of HPCC ns-3 and its family, and of SimAI. Read token by token, as leniently as
/// the originals: any blanks, ids in any order, any id a switch, trailing text ignored. Parallel
/// links are all kept (NextHopOrder::ns3 uses the last).
///
///     HPCC   <nodes> <switches> <links>
///            <switch id> ...                        every other id is a host
///     SimAI  <nodes> <GPUs per server> <NVSwitches> <switches> <links> <GPU type>
///            <NVSwitch id> ... <switch id> ...
///     PowerTCP  <nodes> <switches> <ToRs> <links>, and Reverie two capacities more, as HPCC
///     all    <a> <b> <rate> <delay> <loss>          one per link
///
/// Rates: ns-3 DataRate text, decimal; a bare number is b/s. Delays: s, ms, us, ns, ps, down to
/// whole picoseconds; a bare number is seconds. Loss: probability per received packet; 0 lets the
/// global setting of an HPCC experiment apply. SimAI's GPU type NONE is read as unknown. Headers of
/// four and of six numbers are known by their line: PowerTCP's and Reverie's, whose simulators use
/// neither ToRs nor, for the network, capacities.
/// Fewer links than the header says, and ids on lines of their own that are not as many as it says,
/// are errors. More links are not read, as in the originals.
#pragma once

#include <string>
#include <string_view>

#include "core/text/import_report.h"
#include "core/text/tokens.h"
#include "core/topology/topology.h"

namespace sluice {

/// How the delays of a file are read.
enum class DelayReading : std::uint8_t {
    exact,
    ns3,  ///< whole nanoseconds, truncated from doubles as ns-3 does: 0.0003ms is 299 ns
};

/// Reads a file. ConfigError with file and line of the offending token. `report`, if given, gets
/// what was read and skipped, and what is doubtful: legal but likely a mistake, links listed twice (all are
/// used), servers of different size, nodes without a link, hosts that cannot reach each other.
Topology read_topology(const std::string& path, ImportReport* report = nullptr,
                       DelayReading delays = DelayReading::exact);
/// The same from text that `reader` holds. The topology's name is the reader's file.
Topology read_topology(TokenReader& reader, ImportReport* report = nullptr,
                       DelayReading delays = DelayReading::exact);

enum class TopologyFormat : std::uint8_t {
    automatic,  ///< SimAI's if there are NVSwitches, servers of several GPUs or a GPU type
    hpcc,       ///< NVSwitches become switches; servers and GPU type are lost
    simai,
};

/// The text of a file that reads back as the same network, with the exceptions that the format
/// makes. Delays are in milliseconds, as the originals' generators write them.
std::string format_topology(const Topology& topology,
                            TopologyFormat format = TopologyFormat::automatic);

/// `text` may stand as GPU type in a header: one word that is neither a number nor a rate.
bool is_gpu_type(std::string_view text);

}  // namespace sluice
