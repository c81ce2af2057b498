// SPDX-License-Identifier: Apache-2.0
/// What steady_skip and steady_study share: their command line and the list of cases.
#pragma once

#include <string>
#include <vector>

#include "core/steady/detector.h"
#include "core/units.h"

namespace sluice::steady_bench {

struct Case {
    std::string name;
    std::string half;
    std::string kind;
    std::string law;
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
    steady::DetectorSettings settings;
};

/// argv[1] is the folder of cases, then pairs of --option value. Throws std::runtime_error.
Options parse_options(int argc, char** argv);

/// Those of cases.csv that the options choose, in its order.
std::vector<Case> chosen_cases(const Options& options);

}  // namespace sluice::steady_bench
