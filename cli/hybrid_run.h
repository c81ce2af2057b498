// SPDX-License-Identifier: Apache-2.0
/// Runs an Experiment in hybrid mode: packet mode's network, watched by a phase controller.
#pragma once

#include <memory>
#include <vector>

#include "cli/mode_run.h"

namespace sluice {

class HybridRun : public ModeRun {
  public:
    /// Elaborates. The experiment must outlive the run. ConfigError under ns-3's arithmetic, whose
    /// tie order is packet mode's only.
    explicit HybridRun(const Experiment& experiment);
    ~HybridRun() override;

    void run(const RunHooks& hooks) override;
    bool cut_off() const override;
    Tick now() const override;
    const std::vector<FlowResult>& results() const override;
    RunCounters counters() const override;
    std::vector<PortStatistics> port_statistics() const override;
    double elaboration_seconds() const override;
    std::size_t memory_bytes() const override;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
