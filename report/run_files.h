// SPDX-License-Identifier: Apache-2.0
/// What a run has left behind, read back for its report: summary.json, flows.csv and ports.csv
/// (docs/outputs.md). Errors are ConfigError with file and line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/results/outputs/finished_flows.h"
#include "core/topology/topology.h"
#include "core/units.h"

namespace sluice::report {

using Json = nlohmann::ordered_json;

/// What an egress port did over the run. In mode flow there are no queues, and what follows is 0.
struct PortFigures {
    std::int64_t tx_bytes = 0;
    double utilization = 0;
    std::int64_t max_queue_bytes = 0;
    std::int64_t ecn_marks = 0;
    std::int64_t drops = 0;
    Tick paused = 0;
};

struct RunFiles {
    std::string folder;
    Json summary;
    std::vector<std::string> classes;  ///< labels of flows.csv
    std::vector<FinishedFlow> flows;   ///< in the order of their ends
    Topology topology;                 ///< rebuilt from ports.csv: delays are 0
    std::vector<PortFigures> ports;    ///< by port
    bool queues = false;               ///< the mode has queues

    std::string file(const char* name) const;
    bool has(const char* name) const;
    /// A text of the effective configuration, such as "topology.type"; empty if it has none of that name.
    std::string config_text(const std::string& key) const;
    /// What a value of the effective configuration is; null if there is none.
    const Json* config(const std::string& key) const;
};

/// The number of that key; 0 if there is none.
double number(const Json& object, const char* key);

/// A whole JSON file that is an object. ConfigError if it is missing, no JSON, or no object.
Json read_json(const std::string& path);

RunFiles read_run_files(const std::string& folder);

}  // namespace sluice::report
