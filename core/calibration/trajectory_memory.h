// SPDX-License-Identifier: Apache-2.0
/// Trajectories that outlive their run (core/calibration/trajectories.h): what one run has recorded, later ones follow. In the
/// memo each is a sample of its kind. After Wormhole's simulation database (4.2 to 4.4).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/calibration/trajectories.h"
#include "core/memo/memo.h"

namespace sluice::hybrid {

class TrajectoryMemory {
  public:
    /// `fingerprint`: everything else that a group's behaviour depends on, such as law and packet formats. `memo` must outlive
    /// this.
    TrajectoryMemory(memo::Memo& memo, std::vector<std::int64_t> fingerprint)
        : memo_(memo), fingerprint_(std::move(fingerprint)) {}

    /// The kinds of flows alone that the memo held when the run began, in a fixed order.
    std::vector<GroupKey> kinds_alone() const;
    /// What the memo held of a kind when the run began: at most `most`, in an order that says nothing of what they are.
    std::vector<std::shared_ptr<Trajectory>> recall(const GroupKey& kind, std::size_t most) const;
    /// At the run's end: stores what was recorded.
    void learn(const GroupKey& kind, const Trajectory& trajectory, Tick now);
    /// Adds what kinds of earlier runs are made of.
    void recall_facts(NearFacts& facts) const;
    void learn_facts(const NearFacts& facts, Tick now);

  private:
    /// A kind of the memo, with the fingerprint in front.
    memo::Numbers facts_of(const GroupKey& kind) const;

    memo::Memo& memo_;
    std::vector<std::int64_t> fingerprint_;
};

/// A trajectory as integers: advances in 4096ths of a step, laws in 1024ths of what they aim at.
memo::Numbers numbers_of(const Trajectory& trajectory);
/// Inverse of numbers_of(), but for rounding. Null if the numbers are no trajectory of so many flows.
std::shared_ptr<Trajectory> trajectory_of(const memo::Numbers& numbers, std::size_t flows);

}  // namespace sluice::hybrid
