// SPDX-License-Identifier: Apache-2.0
/// The paths that a run's flows took. No output has them: they follow from the network and ECMP's hash
/// (core/flow/ecmp_hash.h). What they say is held against the bytes that ports.csv counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_files.h"

namespace sluice::report {

struct FlowPaths {
    std::string unknown;  ///< why the paths are not known; empty if they are
    std::vector<std::vector<PortId>>
        ports;  ///< by place in RunFiles::flows: egress ports, source first
    std::vector<std::vector<PortId>>
        ack_ports;  ///< of the ACKs, destination first: they have a hash of their own
    std::vector<std::uint32_t> flows;  ///< by port: flows whose data left by it
};

FlowPaths paths_of(const RunFiles& run);

}  // namespace sluice::report
