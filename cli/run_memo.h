// SPDX-License-Identifier: Apache-2.0
/// What `sluice run` knows from runs before, and leaves to those after it.
#pragma once

#include <string>

#include "cli/commands.h"
#include "experiment/experiment.h"
#include "scenario/scenario.h"

namespace sluice {

class RunMemo {
  public:
    /// Gives the experiment a memo, where its mode has one. A file that cannot be used is told on standard error, once,
    /// and the run goes on without it.
    RunMemo(const RunOptions& options, const Scenario& scenario, Experiment& experiment,
            const std::string& config_json);
    /// Adds to the file what the run has told its memo.
    void save() const;

  private:
    std::string file_;  ///< empty: none is used
    std::shared_ptr<memo::Memo> memo_;
};

}  // namespace sluice
