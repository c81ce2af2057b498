// SPDX-License-Identifier: Apache-2.0
/// Notices a run that can never end. After the last link event some flow has no path left, so its sender retransmits for
/// ever: such a run is stopped when nothing has finished for a second of simulated time, and 250 retransmit timeouts,
/// after the last event. Or flows are under way and none of them progresses (ports that pause each other in a circle, a
/// window that is smaller than what must be sent at once): it is stopped after as long again.
#pragma once

#include <optional>

#include "core/routing/routing.h"
#include "experiment/modes/mode_run.h"

namespace sluice {

class StallGuard {
  public:
    explicit StallGuard(const Experiment& experiment);

    /// A flow finished at `at`.
    void finished(Tick at) { last_progress_ = at > last_progress_ ? at : last_progress_; }
    /// `run` is asked for its flows only when nothing has finished for so long.
    bool stalled(Tick now, const ModeRun& run);

  private:
    /// Once all events have happened; none if every link is up then.
    std::optional<Routing> routing_;
    Tick last_progress_ = 0;
    Tick patience_ = 0;
    Tick next_look_ = 0;
    std::int64_t progress_ = -1;  ///< when it was looked at last
};

}  // namespace sluice
