// SPDX-License-Identifier: Apache-2.0
/// Trials as runs of a scenario in this process, in any mode, each on one thread or on a device.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "eval/executor/executor.h"
#include "experiment/batch/batch_file.h"
#include "experiment/contention.h"
#include "experiment/run.h"

namespace sluice::eval {

/// What differs between trials of one candidate.
struct Variation {
    bool seed = true;  ///< of workloads and of what the network draws (ECN marks, spraying, losses)
    bool perturbation = false;  ///< cables that are longer by picoseconds (scenario/perturbation.h)
};

struct LaneSettings {
    Variation variation;
    /// Ports that metrics ask for, by the two nodes of their links, in the order of TrialRecord::ports.
    std::vector<std::pair<ConfigValue, ConfigValue>> ports;
    Tick queue_step = 0;       ///< between two samples of these ports' queues; 0: none
    bool collectives = false;  ///< whether a metric asks for them
    RunMaker maker;            ///< of a device; empty: every mode's own engine
    bool fall_back = false;    ///< what the device refuses (ConfigError) the mode's own engine does
};

class LaneExecutor final : public Executor {
  public:
    /// Candidates are the experiments of the batch, which outlives the executor.
    LaneExecutor(const Batch& candidates, LaneSettings settings);

    TrialResult run(const TrialRequest& request, const GoOn& go_on) override;

    /// "sluice run FILE --set seed=17".
    std::string by_itself(const TrialRequest& request) const override;

    std::string why_same(const std::vector<std::size_t>& candidates) const override;

    /// ConfigError if a candidate's scenario is wrong, or lacks a port: what its first trial would say.
    void check() const;

  private:
    /// What makes a candidate's scenario this trial: "seed=17".
    std::vector<std::string> settings_of(const TrialRequest& request) const;
    TrialResult run_on(const RunMaker& maker, const TrialRequest& request, const GoOn& go_on) const;

    mutable std::mutex noting_;
    mutable std::map<std::size_t, QueuesMet> met_;  ///< by candidate, of its trials so far
    const Batch& candidates_;
    LaneSettings settings_;
};

/// By seed where that changes the flows that a candidate's scenario lists, else by seed and perturbation: jobs draw
/// nothing, or jitter only. ConfigError if the scenario is wrong.
Variation variation_of(const Batch& candidates, std::size_t candidate);

}  // namespace sluice::eval
