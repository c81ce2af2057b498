// SPDX-License-Identifier: Apache-2.0
/// One experiment of a batch, from its scenario to its row, on the calling thread. Whatever comes of it is a row.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/memo/memo.h"
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
    Turns* host_turns = nullptr;      ///< of those that the device has refused; null: all at once
    KnownRouting* routing = nullptr;  ///< of the thread's experiments before; null: none
    /// What it knows when it begins, if its phases remember (`phases.memo`). Null: nothing; what it learns goes with it.
    std::shared_ptr<const memo::Snapshot> memo;
    std::string memo_digest;  ///< "": none
    /// Asked now and then, whether to go on.
    std::function<bool(const LanePosition&)> go_on;
};

/// `whole`: it was not interrupted.
BatchRow run_lane(const Batch& batch, std::size_t experiment, const LaneRequest& request,
                  bool& whole);

/// The digest of an experiment's scenario and of the memo with which it begins ("": none); "" if its keys do not fit its
/// base.
std::string digest_of(const Batch& batch, std::size_t experiment, const std::string& memo);

}  // namespace sluice
