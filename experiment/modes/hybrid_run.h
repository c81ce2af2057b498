// SPDX-License-Identifier: Apache-2.0
/// Runs an Experiment in hybrid mode: packet mode's network, watched by a phase controller.
#pragma once

#include <memory>

#include "experiment/modes/packet_run.h"

namespace sluice {

/// ConfigError if the experiment cannot run with phases, as far as that can be told without building the run.
void check_hybrid(const Experiment& experiment);

class PhaseWatch;

class HybridRun : public PacketRun {
  public:
    /// The experiment must outlive the run. ConfigError under ns-3's arithmetic, whose
    /// tie order is packet mode's only.
    HybridRun(const Experiment& experiment, Caller caller);
    ~HybridRun() override;

    void run(const RunHooks& hooks) override;
    std::int64_t progress() const override;
    RunCounters counters() const override;

  private:
    std::unique_ptr<PhaseWatch> watch_;
};

}  // namespace sluice
