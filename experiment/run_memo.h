// SPDX-License-Identifier: Apache-2.0
/// What a run knows from runs before, and leaves to those after it: a memo, and the file behind it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/memo/memo.h"
#include "experiment/experiment.h"

namespace sluice {

class RunMemo {
  public:
    /// Gives the experiment, if its phases remember, a memo with what `file` has (empty: nothing), under the
    /// configuration `config_json`. `asked`: the user has named the file: ConfigError if it cannot be used. Else the run
    /// goes on without it, and note() says so.
    RunMemo(std::string file, bool asked, const std::string& config_json, Experiment& experiment);

    /// A line for the user; empty: nothing is to be said.
    const std::string& note() const { return note_; }
    /// Adds to the file what the run has told its memo. Returns a line for the user if that could not be done, else "".
    std::string save() const;

  private:
    std::string file_;  ///< empty: none is used
    std::string note_;
    std::shared_ptr<memo::Memo> memo_;
};

/// What of an effective configuration (JSON) decides how flows fare whose ways and sizes are known: formats, buffers,
/// marking, law, detector. Not the topology or the workload, which what is remembered tells itself, nor the seed. Two
/// words.
std::vector<std::int64_t> memo_fingerprint(const std::string& config_json);

}  // namespace sluice
