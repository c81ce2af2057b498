// SPDX-License-Identifier: Apache-2.0
/// The SystemC network of an Experiment, elaborated.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "experiment/modes/packet_engine.h"
#include "models/network.h"
#include "models/nic/acks_nic.h"

namespace sluice {

class SystemCEngine : public PacketEngine {
  public:
    /// Elaborates. The experiment must outlive this.
    explicit SystemCEngine(const Experiment& experiment);
    ~SystemCEngine() override;

    engine::Engine& engine() override { return network_->clock().engine(); }
    step::WorldStore& store() override { return network_->store(); }
    /// An exception must not pass through SystemC's kernel, which would wrap it: it is kept, and start() throws
    /// it once the engine has stopped.
    RunHooks guarded_hooks(const RunHooks& hooks) override;
    void start(RunHooks hooks) override;
    void rethrow() const override {
        if (error_ != nullptr) std::rethrow_exception(error_);
    }
    double elaboration_seconds() const override { return elaboration_.count(); }

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

    using NodeMaker = decltype(NetworkOptions::make_node);
    struct GuardedTap;

    NetworkOptions options();
    NodeMaker acks_maker();

    const Experiment& experiment_;
    AckSink on_ack_;                                 ///< experiment_.on_ack, guarded
    std::vector<std::unique_ptr<GuardedTap>> taps_;  ///< experiment_.taps
    std::chrono::steady_clock::time_point begin_;
    Routing routing_;
    std::unique_ptr<Network> network_;
    std::chrono::duration<double> elaboration_;
    std::exception_ptr error_;
};

}  // namespace sluice
