// SPDX-License-Identifier: Apache-2.0
/// Which flows and ports are executed in place of which others, where parts of a network are copies of each other
/// (core/fold/). Read between windows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice::step {

class Representatives {
  public:
    virtual ~Representatives() = default;

    /// The flow that is executed in place of `flow`: itself, unless it is a copy.
    virtual FlowSlot leader_of(FlowSlot flow) const = 0;
    /// The port that is executed in place of `port`: itself, unless it is a copy.
    virtual PortId leader_of_port(PortId port) const = 0;
    /// Adds the copies of `flow`.
    virtual void list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const = 0;
    /// Another number than before if what is a copy of what may have changed since.
    virtual std::uint64_t generation() const = 0;
};

}  // namespace sluice::step
