// SPDX-License-Identifier: Apache-2.0
/// One experiment of a batch, from its scenario to its row, on the calling thread. Whatever comes of it is a row.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "core/text/config_value.h"
#include "experiment/batch/batch_file.h"
#include "experiment/batch/batch_row.h"
#include "experiment/run.h"

namespace sluice {

/// Where an experiment stands that is under way.
struct LanePosition {
    Tick simulated = 0;
    double share =
        0;  ///< of it that is done: of its flows, or of the time until its stop; 0: not known
};

/// So many at a time, whoever comes; others wait.
class Turns {
  public:
    explicit Turns(std::size_t free) : free_(free) {}
    void take();
    void give_back();

  private:
    std::size_t free_;
    std::mutex mutex_;
    std::condition_variable one_is_free_;
};

struct LaneRequest {
    std::string directory;   ///< where it leaves all that `sluice run` leaves; empty: nowhere
    bool checking = false;   ///< in mode packet, whatever mode the batch is in
    bool allow_oom = false;  ///< a job that does not fit its GPUs is run all the same
    RunMaker maker;          ///< of a device; empty: every mode's own engine
    bool fall_back = false;  ///< what the device refuses (ConfigError) the mode's own engine does
    Turns* host_turns = nullptr;  ///< of those that the device has refused; null: all at once
    /// Asked now and then, whether to go on.
    std::function<bool(const LanePosition&)> go_on;
};

/// `whole`: it was not interrupted.
BatchRow run_lane(const Batch& batch, std::size_t experiment, const LaneRequest& request,
                  bool& whole);

/// The digest of an experiment's scenario; "" if its keys do not fit its base.
std::string digest_of(const Batch& batch, std::size_t experiment);

}  // namespace sluice
