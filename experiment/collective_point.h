// SPDX-License-Identifier: Apache-2.0
/// One row of `sluice collective`: one collective of one size on a scenario's network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"
#include "experiment/run.h"

namespace sluice {

/// What a row is about, the size apart. Texts are values of the scenario's keys of the same name
/// (docs/scenario.md, type = "collective").
struct CollectivePoint {
    /// SCENARIO.toml. Its workload gives keys that are not in `keys` if it is a collective, and is not
    /// used if it is anything else.
    std::string scenario;
    std::string mode;  ///< empty: the scenario's
    /// Keys of the workload and their values.
    std::vector<std::pair<std::string, std::string>> keys;
    std::vector<std::string> sets;  ///< "key=value" on the scenario
};

/// What came of it. `time`: until the last member is done, in the slowest group.
struct CollectiveResult {
    std::string kind;
    std::string algorithm;  ///< as asked for: "automatic", ...
    std::string choice;     ///< what NCCL's rule took, where it was asked; else empty
    std::string mode;
    Tick time = 0;
    std::uint32_t members = 0;  ///< of a group
    std::size_t groups = 0;
    std::size_t flows = 0;
    std::int64_t flow_bytes = 0;
    std::string network;  ///< for people
};

/// Runs in this process, once. Returns an exit code; kExitDone means that `result` is filled,
/// kExitWorkLeft that `work_left` says why it came to rest, in lines.
int run_collective_point(const CollectivePoint& point, std::int64_t bytes, const GoOn& go_on,
                         CollectiveResult& result, std::vector<std::string>& work_left);

/// Everything that can be checked without running.
void check_collective_point(const CollectivePoint& point, std::int64_t bytes);

}  // namespace sluice
