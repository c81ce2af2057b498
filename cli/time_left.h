// SPDX-License-Identifier: Apache-2.0
/// How long a run will take, by how it has gone on lately: a job is executed at first, and skipped or copied later, so
/// that its mean pace says little of what is to come.
#pragma once

#include <optional>

#include "core/ring_queue.h"

namespace sluice {

class TimeLeft {
  public:
    /// `share` of the run is done `seconds` after its beginning. Calls come in the order of time.
    void note(double seconds, double share);
    /// Seconds from the last note() on. Nothing: it has not gone on lately.
    std::optional<double> seconds() const;

  private:
    struct Point {
        double seconds = 0;
        double share = 0;
    };
    RingQueue<Point> points_;  ///< of the last while, oldest first
};

}  // namespace sluice
