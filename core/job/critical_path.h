// SPDX-License-Identifier: Apache-2.0
/// Why a job took as long as it did, from the times of a finished run.
/// Critical path: from the last operation's end backwards, each step is what the one after it waited
/// for last: a dependency, a message from when it was sent, a meeting from when its last part was
/// there, the holder of a resource. The steps follow each other without gaps, so their sum is the
/// job's time.
/// Exposed communication: per rank, the time in which it computes nothing, by what the next
/// computation waited for: communication of some group, steps of a collective among other ranks
/// included, or `waiting`, from where another rank's computation held that up (pipeline bubbles,
/// stragglers), or `idle`: nothing left to do for this rank.
/// Compute, exposed communication, waiting and idle add up to the job's time, on every rank.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/job/job_application.h"

namespace sluice {

inline constexpr std::size_t kOpClasses = 9;

/// Part of a critical path: `op` kept the job from its end during [start, end).
struct CriticalStep {
    OpId op = kNone;
    Tick start = 0;
    Tick end = 0;
    /// The message that the step waits for; kNone: it is none (compute, a meeting, a signal, ...).
    std::uint32_t message = kNone;
};

/// How a rank spent the job's time.
struct RankTimes {
    Tick compute = 0;
    std::array<Tick, kOpClasses> exposed{};  ///< by OpClass; of class compute: waits for a resource
    Tick waiting = 0;
    Tick idle = 0;
};

/// Of a job that has completed at least one operation. `begin`: when its ranks began.
class JobTiming {
  public:
    JobTiming(const JobApplication& application, Tick begin);

    Tick begin() const { return begin_; }
    Tick end() const { return end_; }

    /// Latest step first. They cover [begin(), end()).
    std::vector<CriticalStep> critical_path() const;
    RankTimes rank_times(RankId rank) const;

  private:
    using Visit = std::function<bool(const CriticalStep&)>;

    OpId last_part(OpId op) const;
    void walk(OpId op, const Visit& visit) const;
    std::vector<OpId> computations(RankId rank) const;
    void attribute(OpId after, Tick from, Tick to, RankTimes& times) const;

    const JobApplication& application_;
    const JobGraph& graph_;
    Tick begin_;
    Tick end_ = 0;
    OpId last_ = kNone;          ///< what completes last
    std::vector<OpId> blocker_;  ///< the dependency that completed last; kNone: no dependency
};

}  // namespace sluice
