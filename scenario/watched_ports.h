// SPDX-License-Identifier: Apache-2.0
/// Ports of which a run records what they do, packet by packet: the keys capture and waves of [output] (docs/waves.md).
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/text/config_section.h"
#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice {

struct WatchedPorts {
    std::vector<PortId> captured;                ///< that send what links.pcapng has; ascending
    std::int64_t capture_limit = 1'000'000'000;  ///< bytes of frames
    std::vector<PortId> waves;                   ///< of ports.vcd; ascending
    Tick waves_step = 10 * kMicrosecond;         ///< rates are of so long

    bool any() const { return !captured.empty() || !waves.empty(); }
};

/// Reads them from `output`, whose other keys are left alone. ConfigError as usual.
WatchedPorts read_watched_ports(ConfigSection& output, const Topology& topology);

/// They are keys of `output`, for whoever reads the others before there is a network.
void know_watched_ports(ConfigSection& output);

}  // namespace sluice
