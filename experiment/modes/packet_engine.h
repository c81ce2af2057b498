// SPDX-License-Identifier: Apache-2.0
/// The SystemC network of an Experiment, elaborated, and how a run's hooks reach it: what every
/// mode that moves packets stands on.
#pragma once

#include <chrono>
#include <exception>
#include <memory>

#include "experiment/modes/mode_run.h"
#include "models/network.h"
#include "models/nic/acks_nic.h"

namespace sluice {

class PacketEngine {
  public:
    /// Elaborates. The experiment must outlive this.
    explicit PacketEngine(const Experiment& experiment);

    /// Hooks that call `hooks`, which must outlive start(). An exception must not pass through
    /// SystemC's kernel, which would wrap it: it is kept, and start() throws it once the driver has
    /// stopped.
    RunHooks guarded_hooks(const RunHooks& hooks);
    /// Runs the kernel until the driver stops. Call once.
    void start(RunHooks hooks);

    Network& network() { return *network_; }
    const Network& network() const { return *network_; }
    /// The simulated time that the run reached: its stop, where it was stopped early, or, at rest,
    /// the arrival of the last packet: no mode waits for timers that no longer mean anything.
    Tick reached() const;
    double elaboration_seconds() const { return elaboration_.count(); }

    /// Throws what a guarded hook threw.
    void rethrow() const {
        if (error_ != nullptr) std::rethrow_exception(error_);
    }

  private:
    /// Calls `action` unless an earlier one threw.
    template <typename Action>
    void guarded(Action&& action) {
        if (error_ != nullptr) return;
        try {
            action();
        } catch (...) {
            error_ = std::current_exception();
        }
    }

    NetworkOptions options();

    const Experiment& experiment_;
    AckSink on_ack_;  ///< experiment_.on_ack, guarded
    std::chrono::steady_clock::time_point begin_;
    Routing routing_;
    std::unique_ptr<Network> network_;
    std::chrono::duration<double> elaboration_;
    std::exception_ptr error_;
};

}  // namespace sluice
