// SPDX-License-Identifier: Apache-2.0
/// The network of an Experiment in a plain loop, without SystemC: a lane of a batch, one of many in a process.
#pragma once

#include <chrono>

#include "core/clocks/cell_step.h"
#include "core/routing/routing.h"
#include "experiment/modes/packet_engine.h"

namespace sluice {

class LaneEngine : public PacketEngine {
  public:
    /// The experiment must outlive this. ConfigError as of WorldStore, or if the experiment wants to be told of
    /// every ACK.
    explicit LaneEngine(const Experiment& experiment);

    engine::Engine& engine() override { return engine_; }
    step::WorldStore& store() override { return store_; }
    /// Exceptions pass through the loop.
    RunHooks guarded_hooks(const RunHooks& hooks) override { return hooks; }
    void start(RunHooks hooks) override;
    void rethrow() const override {}
    double elaboration_seconds() const override { return elaboration_.count(); }

  private:
    const Experiment& experiment_;
    std::chrono::steady_clock::time_point begin_;
    Routing routing_;
    step::WorldStore store_;
    engine::Engine engine_;
    step::CellStep step_;
    std::chrono::duration<double> elaboration_;
};

}  // namespace sluice
