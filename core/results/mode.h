// SPDX-License-Identifier: Apache-2.0
/// The modes: what a run simulates an experiment with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

enum class Mode : std::uint8_t {
    packet,    ///< every packet in one exact order
    hybrid,    ///< packets while the network changes, equations while it does not
    wormhole,  ///< hybrid, and what was simulated once is remembered
    flow,      ///< equations only: max-min rates
};

/// Every mode with its name in scenarios and on the command line.
const std::vector<std::pair<const char*, Mode>>& mode_words();
const char* mode_name(Mode mode);
/// ConfigError "WHAT: ...: must be one of ..." if `word` is no mode.
Mode parse_mode(const std::string& word, const std::string& what);

/// Packets move, so that packet-hops, queues, marks, pauses and drops can be counted.
inline bool moves_packets(Mode mode) { return mode != Mode::flow; }

/// Partitions have phases, in which packets run or time is skipped.
inline bool has_phases(Mode mode) { return mode == Mode::hybrid || mode == Mode::wormhole; }

}  // namespace sluice
