// SPDX-License-Identifier: Apache-2.0
/// What executes the packets of an Experiment, and how a run's hooks reach it: what every mode that moves
/// packets stands on. Of two kinds, with the same results: a SystemC network (systemc_engine.h), of which a
/// process has one at a time, and a plain loop (lane_engine.h), of which it has as many as it likes.
#pragma once

#include <memory>

#include "core/engine/engine.h"
#include "core/results/run_hooks.h"
#include "core/world/world_store.h"
#include "experiment/experiment.h"
#include "experiment/modes/mode_run.h"

namespace sluice {

class PacketEngine {
  public:
    virtual ~PacketEngine() = default;

    /// May be told how to execute before start().
    virtual engine::Engine& engine() = 0;
    virtual step::WorldStore& store() = 0;
    /// What calls `hooks`, which must outlive start(), with what an exception of theirs may pass through.
    virtual RunHooks guarded_hooks(const RunHooks& hooks) = 0;
    /// Runs until nothing is left, the experiment's stop, or a hook says so. Call once. Throws what a hook has
    /// thrown.
    virtual void start(RunHooks hooks) = 0;
    /// Throws what a guarded hook has thrown since.
    virtual void rethrow() const = 0;
    virtual double elaboration_seconds() const = 0;

    const engine::Engine& engine() const { return const_cast<PacketEngine*>(this)->engine(); }
    const step::WorldStore& store() const { return const_cast<PacketEngine*>(this)->store(); }
};

/// Builds one. The experiment must outlive it.
std::unique_ptr<PacketEngine> make_packet_engine(const Experiment& experiment, Caller caller);

}  // namespace sluice
