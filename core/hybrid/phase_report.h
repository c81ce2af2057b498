// SPDX-License-Identifier: Apache-2.0
/// What phases came to: counters, and a record of each. What is done to one group is done to its copies, too, and each
/// has records of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/hybrid/group_state.h"
#include "core/results/phase_log.h"
#include "core/results/phase_record.h"
#include "core/results/statistics.h"

namespace sluice::hybrid {

/// What a run's phases came to, and how often the controller was at work.
struct PhaseStatistics : PhaseCounters {
    std::uint64_t samples = 0;
    std::uint64_t entries = 0;
    std::uint64_t exits = 0;
    std::uint64_t merges = 0;  ///< partitions absorbed
    std::uint64_t splits = 0;  ///< partitions split off
};

/// A sum of times of flows, exact, so that its terms' order makes no difference.
struct FlowTime {
    std::uint64_t seconds = 0;
    std::uint64_t ticks = 0;  ///< beyond them

    void add(std::uint64_t flows, Tick each);
    double in_seconds() const;
};

class PhaseReport {
  public:
    /// Called with every phase after it has ended, in an order that depends on the scenario alone.
    void listen(PhaseLog::Listener listener) { log_.listen(std::move(listener)); }
    void report_until(Tick now) { log_.report_until(now); }

    PhaseStatistics& counters() { return counters_; }
    const PhaseStatistics& counters() const { return counters_; }

    /// From here to end_copies() what is done to a group is done to these, too.
    void begin_copies(const std::vector<std::uint32_t>& groups) { copies_ = groups; }
    const std::vector<std::uint32_t>& copies() const { return copies_; }
    void end_copies() { copies_.clear(); }
    /// Groups that what is being done is done to.
    std::size_t times() const { return 1 + copies_.size(); }

    void add(PhaseRecord record);
    /// The group's present phase ends, in which packets were executed.
    void end_unsteady(const GroupState& state, Tick end, PhaseEnd why);
    /// Flows were skipped for so long.
    void add_steady(std::uint64_t flows, Tick each);

  private:
    PhaseLog log_;
    PhaseStatistics counters_;
    FlowTime steady_;
    std::vector<std::uint32_t> copies_;
};

}  // namespace sluice::hybrid
