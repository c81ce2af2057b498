// SPDX-License-Identifier: Apache-2.0
/// Reading back what a run left behind (docs/outputs.md), as far as a comparison of runs needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/results/outputs/finished_flows.h"

namespace sluice {

/// What a run cost. Seconds are of elaboration and run phase together: `elaboration_s + wall_s`
/// and `elaboration_user_s + user_s` of its summary.json.
struct RunCosts {
    double wall_s = 0;
    double user_s = 0;
    double peak_rss_bytes = 0;
};

struct RunFigures {
    RunCosts costs;
    std::optional<std::uint64_t> packet_hops;  ///< none in a mode without packets
    std::optional<std::uint64_t> hops_saved;   ///< none in a mode that never skips
    std::optional<double> jct_s;               ///< none if nothing finished
    double simulated_s = 0;
    std::vector<std::string> classes;      ///< of flows: labels of flows.csv
    std::vector<FinishedFlow> flows;       ///< ascending by flow
    std::vector<std::int64_t> port_bytes;  ///< sent, by egress port
};

/// ConfigError with file and line if the folder does not hold a complete run.
RunFigures read_run(const std::string& folder);

}  // namespace sluice
