// SPDX-License-Identifier: Apache-2.0
/// A run as the data of its pages.
#pragma once

#include <string>

#include "report/run_files.h"

namespace sluice::report {

/// {kind: "run", name, folder, summary, answers: {bound, hot, flows, trust}, timeline, network, flows, trust}: summary is
/// the run's summary.json, whole; the others are described where they are made. ConfigError with file and line if the
/// folder holds no complete run.
Json run_report(const std::string& folder);

}  // namespace sluice::report
