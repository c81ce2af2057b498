// SPDX-License-Identifier: Apache-2.0
/// Queues at the end of a skip: looked at while a group is unsteady, and set to what a restorer says when packets go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hybrid/phase_engine.h"
#include "core/hybrid/restorer.h"
#include "core/results/statistics.h"

namespace sluice::hybrid {

/// The switch ports by which a group's data leave, and their depths at the last looks.
struct WatchedQueues {
    std::vector<PortId> ports;
    std::vector<double> depth;  ///< a ring of as many looks as the restorer wants
    std::size_t looks = 0;      ///< since they were listed
};

/// A skip that ends.
struct EndedSkip {
    const Group& group;
    const std::vector<double>& rate;           ///< by flow, packets per tick
    const std::vector<std::int64_t>& packets;  ///< by flow, that it was advanced by
    Tick length = 0;
    Tick until = 0;
    Tick period = 0;         ///< between looks
    Tick base_rtt = 0;       ///< the group's
    std::size_t copies = 1;  ///< groups that end theirs in the same way
};

class QueueStage {
  public:
    /// Both must outlive this. `restorer` null: queues stay as they are, and nothing is looked at.
    QueueStage(PhaseEngine& engine, Restorer* restorer) : engine_(engine), restorer_(restorer) {}

    bool is_there() const { return restorer_ != nullptr; }
    /// Lists a group's ports anew.
    void watch(WatchedQueues& queues, const Group& group) const;
    void look(WatchedQueues& queues) const;
    /// Sets the queues, and adds what that came to. Returns the payload that was delivered besides. InternalError if the
    /// restorer gives a depth that is none.
    std::int64_t restore(const WatchedQueues& queues, const EndedSkip& skip,
                         RestorationCounters& counters) const;

  private:
    std::vector<PortPast> pasts_of(const WatchedQueues& queues, const EndedSkip& skip) const;

    PhaseEngine& engine_;
    Restorer* restorer_;
};

}  // namespace sluice::hybrid
