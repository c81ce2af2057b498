// SPDX-License-Identifier: Apache-2.0
/// An output-queued packet switch: shared buffer, PFC, ECN, INT, strict priority and a scheduler
/// (docs/models/switch.md). The behaviour is core/packet/switch.h.
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
        step_with<step::ScenarioPolicies>(cell, begin, end);
    }

  protected:
    template <class Policies>
    void step_with(const step::Cell& cell, Tick begin, Tick end) {
        step::switch_step<Policies>(world(), scratch_, cell, begin, end);
    }

  private:
    step::SwitchScratch& scratch_;
};

/// A switch that decides by `Policies` in place of the scenario's rules: a struct that derives from
/// step::ScenarioPolicies and hides what it wants otherwise (core/packet/policies/policies.h).
template <class Policies>
class PolicySwitch : public Switch {
  public:
    using Switch::Switch;

    void step(const step::Cell& cell, Tick begin, Tick end) override {
        step_with<Policies>(cell, begin, end);
    }
    /// Partition clocks bound what cells may have in the buffer by the scenario's rule.
    bool admits_as_configured() const override {
        return &Policies::ingress_limit == &step::ScenarioPolicies::ingress_limit &&
               &Policies::egress_limit == &step::ScenarioPolicies::egress_limit;
    }
};

}  // namespace sluice
