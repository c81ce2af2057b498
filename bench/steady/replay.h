// SPDX-License-Identifier: Apache-2.0
/// Runs one scenario in packet mode with a detector that really skips: the whole network is one
/// group, a skip leaves packets and law states as they are, takes whole packets off every active
/// flow and moves what has not started closer. The smallest controller that can exist, to judge
/// detectors by what counts: completion times against the run without skips.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/steady/options.h"
#include "core/steady/detectors.h"
#include "experiment/experiment.h"

namespace sluice::steady_bench {

struct ReplayResult {
    std::vector<Tick> fct;  ///< by flow, simulated time
    Tick makespan = 0;      ///< first start to last finish
    Tick skipped = 0;       ///< of it
    std::uint64_t skips = 0;
    std::uint64_t packet_hops = 0;                  ///< executed
    std::map<std::string, std::uint64_t> refusals;  ///< verdicts that were not steady, by reason
};

/// `settings` null: no detector, no skips. Flows must have start times (no Application).
ReplayResult replay(const Experiment& experiment, const steady::DetectorSettings* settings,
                    Lag lag = Lag::flow);

}  // namespace sluice::steady_bench
