// SPDX-License-Identifier: Apache-2.0
/// What flows of groups that go the same way sent per base RTT since their group formed, in the mean of the groups, and
/// how far that may be trusted.
#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "core/units.h"

namespace sluice::hybrid {

/// Bins that a group is recorded for at most.
inline constexpr std::size_t kMostBins = 512;

/// What a flow did in a bin.
struct BinReading {
    double rate = 0;    ///< payload bytes per tick
    double flight = 0;  ///< payload bytes
};

inline bool operator<(const BinReading& a, const BinReading& b) {
    return std::tie(a.rate, a.flight) < std::tie(b.rate, b.flight);
}

/// What a SteadyCurve comes to, short: the older bins are, the more of them have one mean.
struct CurveSummary {
    struct Block {
        std::size_t bins = 0;
        double groups = 0;                 ///< the fewest that told of one
        std::vector<BinReading> readings;  ///< by flow, means
        std::vector<double> spread;        ///< by flow: the largest of a bin
    };
    bool saturated = true;
    double trusted = 0;              ///< beyond the bins, ticks
    std::vector<BinReading> tail;    ///< by flow; none: nothing is known beyond the bins
    double origins = 0;              ///< groups
    std::vector<BinReading> origin;  ///< by flow; none: nobody told
    std::vector<Block> blocks;
};

/// Means of what groups with one key did, by bins of their age.
class SteadyCurve {
  public:
    /// `unit`: ticks of a bin. `swings`: ticks within which the law's own swings average out, where its
    /// flows are not at their NICs' line rate throughout.
    SteadyCurve(std::size_t flows, Tick unit, Tick swings)
        : flows_(flows), unit_(unit), swings_(swings) {}
    /// As another run left it.
    SteadyCurve(std::size_t flows, Tick unit, Tick swings, const CurveSummary& summary);
    CurveSummary summary() const;

    /// What one group's flows were like as its first bin began: their laws' rates, bits/s.
    void add_origin(const std::vector<BinReading>& readings);
    /// Of `flow`, the mean.
    BinReading origin(std::size_t flow) const;
    bool has_origin() const { return origins_.groups > 0; }
    /// One group's readings, `flows` a bin, from bin `first` on.
    void add(std::size_t first, const std::vector<BinReading>& readings, bool saturated);

    std::size_t bins() const { return bins_.size(); }
    std::size_t flows() const { return flows_; }
    Tick unit() const { return unit_; }
    Tick swings() const { return swings_; }
    /// Of `flow` in the bins from `first` on, `count` of them; beyond the last one: its long-run mean.
    BinReading mean(std::size_t flow, double first, double count) const;
    /// The longest skip from bin `first` on, ticks, in which a flow's bytes by mean() are right within the
    /// tolerance: to where several groups have gone and did alike, or, once one was simulated long, beyond.
    /// 0: not known.
    double trusted(double first) const;
    /// The same, from any bin on, once one was simulated long.
    double trusted() const { return trusted_; }
    /// So many groups have gone that far that they tell what others will do; true beyond all bins.
    bool told_enough(double first) const;

  private:
    struct Bin {
        double groups = 0;
        std::vector<BinReading> sum;  ///< by flow
        std::vector<double> squares;  ///< by flow, of rates
    };

    static Bin total_of(double groups, const std::vector<BinReading>& means,
                        const std::vector<double>& spread);
    BinReading bin(std::size_t flow, std::size_t at) const;
    BinReading between(std::size_t flow, std::size_t first, std::size_t last) const;
    double trusted_beyond(std::size_t flow) const;
    double spread(std::size_t flow, std::size_t at) const;
    void conclude();

    std::size_t flows_;
    Tick unit_;
    Tick swings_;
    bool saturated_ = true;
    Bin origins_;
    std::vector<Bin> bins_;
    double trusted_ = 0;            ///< beyond the bins, ticks
    std::vector<BinReading> tail_;  ///< by flow: the mean of the later half
};

}  // namespace sluice::hybrid
