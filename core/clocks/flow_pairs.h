// SPDX-License-Identifier: Apache-2.0
/// Flows of a part that is executed, and those that do the same in a copy of it (core/fold/).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/ids.h"

namespace sluice::step {

struct FlowPair {
    FlowSlot leader = kNone;
    FlowSlot image = kNone;
};
using FlowPairs = std::vector<FlowPair>;

/// Who is called what in a copy, ascending by what it is a copy of.
using Names = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The ports on the ways of `pairs`, of flows that are in partitions. Where a port has several copies, the last of them.
class PortNames {
  public:
    Names of(const FlowPartitions& partitions, const FlowPairs& pairs);

  private:
    std::vector<PortId> copy_of_;  ///< by port, scratch, kNone
};

}  // namespace sluice::step
