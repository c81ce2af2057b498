// SPDX-License-Identifier: Apache-2.0
/// What of a network is not the network's own, as far as skips are concerned: devices of the user's own, and what a
/// testbench does at hosts (experiment/testbench/).
#pragma once

#include "core/hybrid/network_view.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class Outside {
  public:
    virtual ~Outside() = default;

    /// A device of the user's own stands there.
    virtual bool is_own(NodeId node) const = 0;
    /// One does, or a testbench has something running there: packets that pass by it are executed, unless may_skip() says
    /// otherwise.
    virtual bool is_live(NodeId node) const = 0;
    /// What is outside of the group, whose extent is listed, can go through a skip. Asked before each one.
    virtual bool may_skip(const Group& group) const = 0;
    /// What the group's devices of the user's own have not done yet they do `dt` later; negative: earlier.
    virtual void advance(const Group& group, Tick dt) = 0;
};

/// Outside::is_live(), if there is anything outside.
bool is_live(const NetworkView& view, NodeId node);
/// A device of the user's own is on the way of the group's flows: no kind of groups tells it from the network's.
bool passes_outside(const NetworkView& view, const Group& group);

}  // namespace sluice::hybrid
