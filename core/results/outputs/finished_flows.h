// SPDX-License-Identifier: Apache-2.0
/// Reads back flows.csv (flows_csv.cpp, docs/outputs.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/flow/ecmp_hash.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice {

/// A row, of which only the columns that were wanted are set.
struct FinishedFlow {
    FlowId flow = 0;
    FlowKey key;
    std::uint32_t flow_class = 0;  ///< index into FinishedFlows::classes
    std::int64_t size = 0;         ///< payload bytes
    Tick start = 0;
    Tick received = 0;
    Tick finish = 0;
    Tick fct = 0;
    Tick ideal = 0;  ///< alone in the network; 0 if unknown

    double slowdown() const {
        return ideal > 0 ? static_cast<double>(fct) / static_cast<double>(ideal) : 0;
    }
};

struct FinishedFlows {
    std::vector<std::string> classes;  ///< labels, in the order in which they come
    std::vector<FinishedFlow> flows;   ///< in the order of the file
};

/// ConfigError with file and line if the file is missing, lacks one of `columns`, or does not hold what they should.
/// `columns`: names of the header.
FinishedFlows read_finished_flows(const std::string& path, const std::vector<std::string>& columns);

}  // namespace sluice
