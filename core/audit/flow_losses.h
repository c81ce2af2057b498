// SPDX-License-Identifier: Apache-2.0
/// What flows have lost by skips, summed up as they leave: what audits have found of each (core/audit/audit.h), and what is
/// known of all skips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/audit/estimate.h"

namespace sluice::audit {

/// Times in ticks.
struct FoundLoss {
    std::uint64_t cluster = 0;
    double weight = 0;  ///< copies / probability
    double lost = 0;
    double length = 0;  ///< of the skip
    double beyond = 0;  ///< of it, of which nothing was audited
};

/// What is known of a flow that has not left. Times in ticks, times copies.
struct FlowAudit {
    double skipped = 0;
    double rounded = 0;    ///< that packets lose to whole packets
    double held = 0;       ///< of skips that hold shares of ports
    bool resumed = false;  ///< of a told episode that was met: it goes on from a guess
    std::vector<FoundLoss> found;
};

/// Sums over flows: relative to their completion times, and ticks.
struct SkipLosses {
    Interval shares;
    Interval times;
};

class FlowLosses {
  public:
    /// A flow has left that took `time` ticks.
    void add(double time, const FlowAudit& flow);

    double flows() const { return flows_; }
    double time() const { return time_; }
    std::size_t clusters() const { return shares_.clusters(); }
    /// Of flows' times, in the mean over flows; 0 if none has left.
    double skipped_share() const { return flows_ > 0 ? shares_.known() / flows_ : 0; }
    double skipped_time() const { return times_.known(); }
    bool enough() const { return shares_.enough(); }
    /// By skips, what they lose to whole packets left out. `census`: all were audited, and nothing is left to chance but
    /// what their prefixes leave out, at most `largest` of it.
    SkipLosses by_skips(bool census, double largest) const;
    double rounded_share() const { return rounded_share_; }
    double rounded_time() const { return rounded_time_; }
    /// Beside what audits of skips see, relative to completion times, summed over flows, and ticks.
    double unseen_share() const;
    double unseen_time() const { return unseen_time_; }

  private:
    double flows_ = 0;
    double time_ = 0;
    double beyond_share_ = 0;  ///< of what prefixes leave out
    double beyond_time_ = 0;
    double rounded_share_ = 0;
    double rounded_time_ = 0;
    double held_share_ = 0;  ///< the same, of flows that were resumed all
    double unseen_time_ = 0;
    StratifiedRatio shares_;
    StratifiedRatio times_;
};

}  // namespace sluice::audit
