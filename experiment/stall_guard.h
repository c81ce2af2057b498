// SPDX-License-Identifier: Apache-2.0
/// Notices a run that can never end: after the last link event some flow has no path left, so its
/// sender retransmits for ever. Such a run is stopped when nothing has finished for a second of
/// simulated time, and 250 retransmit timeouts, after the last event.
#pragma once

#include <vector>

#include "experiment/experiment.h"

namespace sluice {

class StallGuard {
  public:
    explicit StallGuard(const Experiment& experiment);

    /// A flow finished at `at`.
    void finished(Tick at) { last_progress_ = at > last_progress_ ? at : last_progress_; }
    bool stalled(Tick now, const std::vector<FlowResult>& results) const;

  private:
    std::vector<FlowId> cut_off_;  ///< flows without a path once all events have happened
    Tick last_progress_ = 0;
    Tick patience_ = 0;
};

}  // namespace sluice
