// SPDX-License-Identifier: Apache-2.0
/// One row of `sluice collective`: one collective of one size on a scenario's network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"

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
    std::string mode;
    Tick time = 0;
    std::uint32_t members = 0;  ///< of a group
    std::size_t groups = 0;
    std::size_t flows = 0;
    std::int64_t flow_bytes = 0;
    std::string network;  ///< for people
};

/// Runs in this process, once. Returns an exit code; kExitDone means that `result` is filled.
int run_collective_point(const CollectivePoint& point, std::int64_t bytes,
                         CollectiveResult& result);

/// Everything that can be checked without running.
void check_collective_point(const CollectivePoint& point, std::int64_t bytes);

/// A result as text that can be read back, to hand it from one process to another.
std::string to_json(const CollectiveResult& result);
CollectiveResult read_collective_result(const std::string& path);

}  // namespace sluice
