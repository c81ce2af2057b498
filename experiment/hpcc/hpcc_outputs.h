// SPDX-License-Identifier: Apache-2.0
/// Runs an existing HPCC ns-3 experiment and leaves behind what that simulator would (fct.txt, pfc.txt
/// and the queue-length file, in its columns, under the names that the config gives them) beside the
/// usual outputs of a run. Formats: docs/outputs.md.
#pragma once

#include <string>
#include <vector>

#include "core/results/run_output.h"
#include "experiment/hpcc/hpcc_import.h"
#include "experiment/run_to_folder.h"

namespace sluice {

struct HpccRequest {
    std::string directory;                               ///< output folder
    std::vector<std::string> outputs = usual_outputs();  ///< the optional ones, by key
    GoOn go_on;                                          ///< may be empty
};

/// Work is left if the network came to rest with flows unfinished and no stop time to wait for (lost
/// packets: ns-3 has no time-out). Throws ConfigError.
RunReport run_hpcc(const HpccImport& import, const HpccRequest& request);

}  // namespace sluice
