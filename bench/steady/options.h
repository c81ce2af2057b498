// SPDX-License-Identifier: Apache-2.0
/// What steady_skip and steady_study share: their command line and the list of cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/steady/detectors.h"
#include "core/units.h"

namespace sluice::steady_bench {

struct Case {
    std::string name;
    std::string half;
    std::string kind;
    std::string law;
};

/// What a flow's earlier skips count for in the drift bound (L in docs/models/phases.md).
enum class Lag : std::uint8_t {
    none,   ///< nothing
    group,  ///< those since the group's flows last changed
    flow,   ///< all of them, as the phase controller has it
};

struct Options {
    std::string cases;  ///< folder with cases.csv and the scenarios
    std::string series;
    std::string half;
    std::string law;
    std::string kind;
    std::string flows;  ///< file for rows by flow
    std::string curve;  ///< file for errors by time skipped
    Tick nudge = 0;
    Lag lag = Lag::flow;
    steady::DetectorSettings settings;
};

/// argv[1] is the folder of cases, then pairs of --option value. Throws std::runtime_error.
Options parse_options(int argc, char** argv);

/// Those of cases.csv that the options choose, in its order.
std::vector<Case> chosen_cases(const Options& options);

}  // namespace sluice::steady_bench
