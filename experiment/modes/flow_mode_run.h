// SPDX-License-Identifier: Apache-2.0
/// Runs an Experiment in flow mode (flowlevel/).
#pragma once

#include <vector>

#include "experiment/modes/mode_run.h"
#include "flowlevel/flow_run.h"

namespace sluice {

class FlowModeRun : public ModeRun {
  public:
    /// Finds paths and checks the flows. The experiment must outlive the run.
    explicit FlowModeRun(const Experiment& experiment);

    void run(const RunHooks& hooks) override { run_.run(hooks); }
    bool cut_off() const override { return run_.cut_off(); }
    Tick now() const override { return run_.now(); }
    const std::vector<FlowResult>& results() const override { return run_.results(); }
    std::vector<FlowSpec> under_way() const override { return run_.under_way(); }
    std::int64_t progress() const override { return now(); }  // rates are above 0
    RunCounters counters() const override { return run_.counters(); }
    std::vector<PortStatistics> port_statistics() const override { return run_.port_statistics(); }
    double elaboration_seconds() const override { return run_.elaboration_seconds(); }
    std::size_t memory_bytes() const override { return run_.memory_bytes(); }

  private:
    flowlevel::FlowRun run_;
};

}  // namespace sluice
