// SPDX-License-Identifier: Apache-2.0
/// An output-queued packet switch: shared buffer with dynamic thresholds, PFC, ECN, INT, strict
/// priority and DWRR (docs/models/switch.md). The behaviour is core/packet/switch.h.
#pragma once

#include "core/packet/switch.h"
#include "models/node.h"

namespace sluice {

class Switch : public Node {
  public:
    Switch(const sc_core::sc_module_name& name, NodeId id, const Context& context,
           step::SwitchScratch& scratch)
        : Node(name, id, context), scratch_(scratch) {}

    void step(const step::Cell& cell, Tick begin, Tick end) override {
        step::switch_step(world(), scratch_, cell, begin, end);
    }

  private:
    step::SwitchScratch& scratch_;
};

}  // namespace sluice
