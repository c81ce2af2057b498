// SPDX-License-Identifier: Apache-2.0
/// What each host did over time, from a run's trace.json or, without one, from its flows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run_files.h"

namespace sluice::report {

struct HostSpan {
    std::uint32_t lane = 0;  ///< index into HostSpans::lanes
    std::uint32_t name = 0;  ///< index into HostSpans::names
    Tick begin = 0;
    Tick end = 0;
};

struct HostSpans {
    struct Host {
        NodeId host = 0;
        std::string role;             ///< "training rank 5"; empty without a job
        std::vector<HostSpan> spans;  ///< by lane, then by time
    };
    std::vector<std::string> lanes;  ///< "compute", "TP", "EP", "DP", "PP", then others
    std::vector<std::string> names;
    std::vector<Host> hosts;  ///< ascending; those with spans only
};

/// Its flows are left out: flows.csv has them. ConfigError with file and line.
HostSpans spans_of_trace(const std::string& path);

/// When each host sent or received, by the class of flows.
HostSpans spans_of_flows(const RunFiles& run);

}  // namespace sluice::report
