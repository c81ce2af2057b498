// SPDX-License-Identifier: Apache-2.0
/// What flows of groups that go the same way sent per base RTT since their group formed, in the mean of the groups, and
/// how far that may be trusted.
///
/// Where flows share a port, what each has of it may wander: then the mean is that of many futures, and nobody's. So
/// there several groups must have told, and have come to the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
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
    // Where flows share a port.
    double law = 0;   ///< the law's rate as the bin ends, bits/s
    double sent = 0;  ///< payload bytes since the first bin began, as this one ends
};

inline bool operator<(const BinReading& a, const BinReading& b) {
    return std::tie(a.rate, a.flight, a.law, a.sent) < std::tie(b.rate, b.flight, b.law, b.sent);
}

/// Of which groups a curve is.
struct CurveKind {
    std::size_t flows = 0;
    Tick unit = 0;  ///< ticks of a bin
    Tick swings =
        0;  ///< within which the law's own swings average out, where its flows are not at their NICs'
            ///< line rate throughout
    bool shared = false;  ///< data of two flows leave by one port
};

inline bool operator<(const CurveKind& a, const CurveKind& b) {
    return std::tie(a.flows, a.unit, a.swings, a.shared) <
           std::tie(b.flows, b.unit, b.swings, b.shared);
}

/// What a SteadyCurve comes to, short: the older bins are, the more of them have one mean.
struct CurveSummary {
    struct Block {
        std::size_t bins = 0;
        double groups = 0;                 ///< the fewest that told of one
        std::vector<BinReading> readings;  ///< by flow, means
        std::vector<double> spread;        ///< by flow: the largest of a bin
        std::vector<double> apart;  ///< the same, of bytes sent; none where no port is shared
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
    /// Groups that have to have gone as far before others are told what they did there.
    static constexpr double kTellers = 3;

    explicit SteadyCurve(const CurveKind& kind) : kind_(kind) {}
    /// As another run left it.
    SteadyCurve(const CurveKind& kind, const CurveSummary& summary);
    CurveSummary summary() const;

    /// What one group's flows were like as its first bin began: their laws' rates, bits/s.
    void add_origin(const std::vector<BinReading>& readings);
    /// Of `flow`, the mean.
    BinReading origin(std::size_t flow) const;
    bool has_origin() const { return origins_.groups > 0; }
    /// One group's readings, `flows` a bin, from bin `first` on.
    void add(std::size_t first, const std::vector<BinReading>& readings, bool saturated);

    std::size_t bins() const { return bins_.size(); }
    /// Groups that have to have told before others are told of what is beyond all bins.
    double tellers() const;
    /// How often groups' readings have been added.
    std::uint64_t additions() const { return additions_; }
    const CurveKind& kind() const { return kind_; }
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
    /// What trusted() will be at least once as many as have to tell have told so many bins, if they tell the same: nobody needs
    /// to be simulated longer than this asks for.
    double foreseen(std::size_t bins) const {
        return kind_.shared ? (bins >= foreseen_by_ ? foreseen_ : 0) : trusted_;
    }
    /// In bin `first` as many bytes are in flight as will be, so that packets may wait as they are. Of flows that share
    /// no port it is not asked.
    bool is_settled(double first) const;

  private:
    struct Bin {
        double groups = 0;
        std::vector<BinReading> sum;       ///< by flow
        std::vector<double> squares;       ///< by flow, of rates
        std::vector<double> sent_squares;  ///< by flow, of bytes sent
    };

    static Bin total_of(double groups, const std::vector<BinReading>& means,
                        const std::vector<double>& spread, const std::vector<double>& apart);
    double tolerance() const;
    double trusted_alike(double first) const;
    double trusted_shares(double first) const;
    bool parted(std::size_t flow, std::size_t at, double before, double sent) const;
    BinReading bin(std::size_t flow, std::size_t at) const;
    BinReading between(std::size_t flow, std::size_t first, std::size_t last) const;
    const BinReading& before(std::size_t flow, std::size_t at) const;
    double trusted_beyond(std::size_t flow, std::size_t bins) const;
    double trusted_beyond(std::size_t bins) const;
    double spread(std::size_t flow, std::size_t at) const;
    double apart(std::size_t flow, std::size_t at) const;
    void conclude(std::size_t bins);

    CurveKind kind_;
    bool saturated_ = true;
    Bin origins_;
    std::vector<Bin> bins_;
    std::uint64_t additions_ = 0;
    std::size_t told_ = 0;  ///< bins of which as many groups told as are needed
    mutable std::vector<BinReading>
        sums_;  ///< of the bins before each, by flow, as far as `summed_`
    mutable std::size_t summed_ = 0;
    double trusted_ = 0;  ///< beyond the bins, ticks
    double foreseen_ =
        0;  ///< the same if those that tell of a shared port later will tell what the first did,
    std::size_t foreseen_by_ = 0;   ///< by so many bins
    std::vector<BinReading> tail_;  ///< by flow: the mean of the later half
};

}  // namespace sluice::hybrid
