// SPDX-License-Identifier: Apache-2.0
/// Whoever runs trials. Trials are independent: any may run beside any other, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "eval/trials/trial.h"

namespace sluice::eval {

struct TrialRequest {
    std::size_t candidate = 0;
    std::size_t trial = 0;
    std::uint64_t seed = 0;  ///< trial_seed()
};

struct TrialResult {
    enum class Status : std::uint8_t {
        done,
        failed,       ///< no figures came of it
        interrupted,  ///< by `go_on`
    };
    Status status = Status::done;
    std::string reason;  ///< of a failure, one line
    TrialRecord record;
};

class Executor {
  public:
    /// Asked now and then, from the thread that runs the trial, whether to go on.
    using GoOn = std::function<bool()>;

    virtual ~Executor() = default;
    /// From any thread. What is wrong with the trial is a failure; ConfigError: what would fail every trial.
    virtual TrialResult run(const TrialRequest& request, const GoOn& go_on) = 0;
    /// The command line that runs this trial alone; empty: there is none.
    virtual std::string by_itself(const TrialRequest& /*request*/) const { return ""; }
    /// Why candidates whose trials gave the same may have done so, from what its trials have met; empty: not known.
    virtual std::string why_same(const std::vector<std::size_t>& /*candidates*/) const {
        return "";
    }
    /// Whether another attempt at a failed trial may end otherwise.
    virtual bool may_recover() const { return false; }
};

}  // namespace sluice::eval
