// SPDX-License-Identifier: Apache-2.0
/// `sluice run --hpcc`: runs an existing HPCC ns-3 experiment and leaves behind what that simulator
/// would (fct.txt, pfc.txt and the queue-length file, in its columns, under the names that the
/// config gives them) beside the usual outputs of a run. Formats: docs/outputs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/results/run_writer.h"

namespace sluice {

struct HpccOptions {
    std::string config;      ///< path of config.txt
    std::string paths;       ///< path of flow_paths.csv; empty: ECMP
    std::string out;         ///< output folder
    std::string version;     ///< the program's version, for the summary
    std::uint64_t seed = 0;  ///< 0: the config's RANDOM_SEED, else 1
    bool quiet = false;      ///< no notes and no summary line
    bool trace = true;       ///< write trace.json
    /// Between windows: simulated time, flows finished and in all; false interrupts the run, whose
    /// results so far are still written. May be empty.
    std::function<bool(Tick now, std::size_t finished, std::size_t flows)> on_progress;
    /// The simulation is over, nothing is printed yet. May be empty.
    std::function<void()> on_end;
};

/// Returns the exit code: 0, 130 if interrupted, or 3 if the network came to rest with flows
/// unfinished and no stop time to wait for (lost packets: ns-3 has no time-out). Notes on what was
/// skipped in the inputs go to standard error. Throws ConfigError.
int run_hpcc(const HpccOptions& options);

}  // namespace sluice
