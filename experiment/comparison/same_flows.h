// SPDX-License-Identifier: Apache-2.0
/// Variants of a scenario whose flows are the same, byte for byte: which, and why a setting may not have mattered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/contention.h"

namespace sluice {

struct Variants;

/// What a run's folder says of its flows as a whole.
struct FlowsSeen {
    std::uint64_t digest = 0;  ///< of flows.csv
    QueuesMet met;
    std::uint64_t skips = 0;  ///< of hybrid and wormhole mode, told episodes included
    std::vector<std::string> without_effect;  ///< "key: why", as summary.json has them
};

/// ConfigError if the folder holds no complete run.
FlowsSeen read_flows_seen(const std::string& folder);

struct SameFlows {
    std::vector<std::size_t> rows;  ///< of Variants::rows, ascending
    std::string why;
};

/// Every set of two rows or more whose flows are the same.
std::vector<SameFlows> same_flows(const Variants& variants);

}  // namespace sluice
