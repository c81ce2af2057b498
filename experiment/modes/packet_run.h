// SPDX-License-Identifier: Apache-2.0
/// Runs an Experiment in packet mode: builds the engine, starts it, reports.
#pragma once

#include <memory>
#include <vector>

#include "experiment/modes/mode_run.h"

namespace sluice {

class PacketEngine;

class PacketRun : public ModeRun {
  public:
    /// The experiment must outlive the run.
    /// `mode` says what may be folded, and on how many threads it runs unless the experiment says so.
    PacketRun(const Experiment& experiment, Caller caller, Mode mode = Mode::packet);
    ~PacketRun() override;

    void run(const RunHooks& hooks) override;
    bool cut_off() const override;
    Tick now() const override;
    const std::vector<FlowResult>& results() const override;
    std::vector<FlowSpec> under_way() const override;
    std::int64_t progress() const override;
    std::vector<PortId> paused_cycle() const override;
    RunCounters counters() const override;
    std::vector<PortStatistics> port_statistics() const override;
    double elaboration_seconds() const override;
    std::size_t memory_bytes() const override;

  protected:
    PacketEngine& engine() const { return *engine_; }

  private:
    std::unique_ptr<PacketEngine> engine_;
};

}  // namespace sluice
