// SPDX-License-Identifier: Apache-2.0
/// The ranks' compute streams: how long each takes for what, stragglers and jitter included.
/// Errors: ConfigError where a computation would last longer than time does.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/training/training.h"

namespace sluice {

/// `time` at a rank that takes `factor` times as long.
Tick slowed(Tick time, double factor);

class ComputeStreams {
  public:
    /// Also sets the graph's slowdown of computing while a rank communicates.
    ComputeStreams(const TrainingConfig& config, JobGraph& graph);

    /// A computation that takes `time` where nothing slows it, in the order of the stream. `overlap`: by how much it is slower
    /// while its rank communicates (OverlapSlowdown).
    OpId add(RankId at, Tick time, Label label, double overlap);
    /// The latest; kNone: there is none.
    OpId last(RankId at) const { return last_[at]; }

  private:
    Tick on_rank(RankId at, Tick time);

    const TrainingConfig& config_;
    JobGraph& graph_;
    std::vector<double> slowdown_;      ///< by rank
    std::vector<std::uint64_t> drawn_;  ///< the same: computations so far
    std::vector<OpId> last_;            ///< the same
};

}  // namespace sluice
