// SPDX-License-Identifier: Apache-2.0
/// Estimates the time that a run has left from its recent progress. Jobs begin slowly, with packets, and go on with skips
/// and copies, so that the mean since the beginning says little.
#pragma once

#include <optional>

#include "core/ring_queue.h"

namespace sluice {

class TimeLeft {
  public:
    /// `share` of the run is done `seconds` after its beginning. Calls come in the order of time.
    void note(double seconds, double share);
    /// From the last note() on. None while there is no recent progress.
    std::optional<double> seconds() const;

  private:
    struct Point {
        double seconds = 0;
        double share = 0;
    };
    RingQueue<Point> points_;  ///< of the last while, oldest first
};

}  // namespace sluice
