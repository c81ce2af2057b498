// SPDX-License-Identifier: Apache-2.0
/// Each page's answer, in a sentence with a figure.
#pragma once

#include <string>
#include <vector>

#include "report/network.h"
#include "report/run_files.h"

namespace sluice::report {

/// What bounds the run: the largest parts of the critical path, or the last flow.
std::string bound_answer(const RunFiles& run, const FlowPaths& paths);
/// Which link is the hottest, and by how much. `picture`: of network_picture().
std::string hot_answer(const RunFiles& run, const Json& picture);
/// How long flows take. `times`: of flow_times().
std::string flows_answer(const RunFiles& run, const Json& times);
/// What was simulated, and how sure the figures are. `trust`: of trust_of().
std::string trust_answer(const RunFiles& run, const Json& trust);

}  // namespace sluice::report
