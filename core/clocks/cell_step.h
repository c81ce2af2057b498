// SPDX-License-Identifier: Apache-2.0
/// The step of a cell as drivers call it where no module stands around a node: plain loops of tests
/// and benchmarks, and threads (cell_stepper(), core/clocks/worker_pool.h). Host code: it frees the switches' scratch.
#pragma once

#include "core/packet/nic.h"
#include "core/packet/switch.h"
#include "core/world/world_store.h"

namespace sluice::step {

class CellStep {
  public:
    /// `world` must outlive it.
    explicit CellStep(World& world) : world_(world) {}
    ~CellStep() { free_scratch(scratch_); }
    CellStep(const CellStep&) = delete;
    CellStep& operator=(const CellStep&) = delete;

    void operator()(const Cell& cell, Tick begin, Tick end) {
        step_with<ScenarioPolicies>(cell, begin, end);
    }

    /// The same under other policies (core/packet/policies/policies.h).
    template <class Policies>
    void step_with(const Cell& cell, Tick begin, Tick end) {
        if (world_.is_host[cell.node] != 0) {
            host_step(world_, cell, end);
        } else {
            switch_step<Policies>(world_, scratch_, cell, begin, end);
        }
    }

  private:
    World& world_;
    SwitchScratch scratch_;
};

}  // namespace sluice::step
