// SPDX-License-Identifier: Apache-2.0
/// What stands around an engine in the modes hybrid and wormhole: partitions, the phase controller and what it asks, the
/// memo, the audit.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/engine.h"
#include "core/results/run_hooks.h"
#include "core/results/statistics.h"
#include "core/world/world_store.h"
#include "experiment/experiment.h"

namespace sluice {

namespace hybrid {
class Outside;
}

class PhaseWatch {
  public:
    /// Of an engine of `store`, before it begins. Both must outlive this.
    PhaseWatch(const Experiment& experiment, step::WorldStore& store);
    ~PhaseWatch();

    /// Watches `engine`, which has not begun. The hooks' on_phase is called from here.
    void attach(engine::Engine& engine, const RunHooks& hooks);
    /// Not all of the network is its own (core/hybrid/outside.h). Before the engine begins; `outside` must outlive this.
    void surround(hybrid::Outside& outside);
    /// The run ends at `now`: skips end there, and the last phases are reported. Once.
    void finish(Tick now);
    /// Something is left out up to a later instant.
    bool leaves_out() const;
    /// Adds what is counted of phases and by the audit. `results` are of flows up to `now`.
    void count(RunCounters& counters, const std::vector<FlowResult>& results, Tick now) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace sluice
