// SPDX-License-Identifier: Apache-2.0
/// How flows share a bottleneck when a steady phase ends: the seam between the phase controller and what
/// knows how shares move (restore/drawn_shares.h). What a bottleneck carries in all is steady; what each
/// of its flows has of it is not: laws move it about, and a skip that held it still would keep unequal
/// shares unequal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice::hybrid {

/// A flow whose data share a full port with others. Rates are full packets per tick.
struct SharePast {
    double rate = 0;  ///< as it falls asleep: of its port's total, in proportion to the laws' rates
    double fair = 0;  ///< of an equal division of what its port carries
    std::size_t flows = 0;  ///< that share the port
    double line = 0;        ///< what its port could carry
    Tick base_rtt = 0;
};

/// What it has of the port in the skip, and when packets go on.
struct ShareDrawn {
    double mean = 0;
    double end = 0;
};

class ShareRestorer {
  public:
    virtual ~ShareRestorer() = default;
    /// False of a port whose flows' shares it cannot speak of; told but for `rate` and `fair`.
    virtual bool knows(const SharePast& flow) const = 0;
    /// The longest skip that it can speak of, for flows of this base RTT.
    virtual Tick longest(Tick base_rtt) const = 0;
    /// A mean rate over a skip of `length` that the flow hardly exceeds: no group skips beyond its
    /// first finisher.
    virtual double most(const SharePast& flow, Tick length) const = 0;
    /// For each flow of a group, in its order. `occasion` is the skip's, the same in copies of a group:
    /// by it, the flow's place and what is asked, so that a run repeats itself. Sums need not be right, the
    /// controller sees to that; a number that is none, or below zero, ends the run (InternalError).
    virtual std::vector<ShareDrawn> draw(const std::vector<SharePast>& flows, Tick length,
                                         std::uint64_t occasion) = 0;
};

}  // namespace sluice::hybrid
