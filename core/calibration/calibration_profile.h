// SPDX-License-Identifier: Apache-2.0
/// Calibration profile of a kind of flow group: what each flow sent per bin since the group formed, averaged over the
/// groups that contributed, and for how long a skip may use these rates. A bin is about one base RTT.
///
/// Where flows share a port, their shares may drift at random, and a mean over groups predicts none of them. So a profile
/// of such groups needs several contributors, and their flows must have sent the same number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/units.h"

namespace sluice::hybrid {

/// Most bins that are recorded of a group.
inline constexpr std::size_t kMaxBins = 512;

/// What a flow did in one bin.
struct BinReading {
    double rate = 0;       ///< payload bytes per tick
    double in_flight = 0;  ///< payload bytes at the bin's end
    // Only where flows share a port:
    double law_rate = 0;  ///< the congestion control algorithm's rate at the bin's end, bits/s
    double sent = 0;      ///< payload bytes from the start of the first bin to the end of this one
};

inline bool operator<(const BinReading& a, const BinReading& b) {
    return std::tie(a.rate, a.in_flight, a.law_rate, a.sent) <
           std::tie(b.rate, b.in_flight, b.law_rate, b.sent);
}

/// What all groups of a profile have in common.
struct ProfileKind {
    std::size_t flows = 0;
    Tick bin_length = 0;
    /// Time over which the algorithm's own oscillation averages out, where flows are not at their NIC's line rate.
    Tick sawtooth_span = 0;
    bool shared = false;  ///< data of two flows leave by one port
};

inline bool operator<(const ProfileKind& a, const ProfileKind& b) {
    return std::tie(a.flows, a.bin_length, a.sawtooth_span, a.shared) <
           std::tie(b.flows, b.bin_length, b.sawtooth_span, b.shared);
}

/// Compact form of a profile, for storage. The later bins are, the more of them share one mean.
struct ProfileSummary {
    /// Consecutive bins.
    struct Block {
        std::size_t bins = 0;
        double groups = 0;                 ///< fewest contributors of a bin
        std::vector<BinReading> readings;  ///< by flow, means
        std::vector<double> rate_spread;   ///< by flow, largest of a bin
        std::vector<double> sent_spread;   ///< the same, of bytes sent; empty if no port is shared
    };
    bool saturated = true;
    double tail_skip = 0;             ///< trusted skip beyond the bins, ticks
    std::vector<BinReading> tail;     ///< by flow; empty: nothing is known beyond the bins
    double initial_groups = 0;        ///< contributors to `initial`
    std::vector<BinReading> initial;  ///< by flow; empty without contributors
    std::vector<Block> blocks;
};

class CalibrationProfile {
  public:
    /// Contributors that a bin needs before other groups may use it.
    static constexpr double kRequiredContributors = 3;

    explicit CalibrationProfile(const ProfileKind& kind) : kind_(kind) {}
    /// From a stored summary.
    CalibrationProfile(const ProfileKind& kind, const ProfileSummary& summary);
    ProfileSummary summary() const;

    /// Adds the state of one group's flows at the start of its first bin. Here, `rate` is the algorithm's, in bits/s.
    void add_initial(const std::vector<BinReading>& readings);
    /// Mean of these for a flow.
    BinReading initial(std::size_t flow) const;
    bool has_initial() const { return initial_.groups > 0; }
    /// Adds one group's readings from bin `first` on: bin by bin, each with all flows. `saturated`: all flows were at
    /// their NIC's line rate.
    void add(std::size_t first, const std::vector<BinReading>& readings, bool saturated);

    std::size_t bins() const { return bins_.size(); }
    /// Contributors that are needed to predict beyond the recorded bins.
    double required_contributors() const;
    /// Number of calls of add().
    std::uint64_t additions() const { return additions_; }
    const ProfileKind& kind() const { return kind_; }
    /// Mean of a flow over `count` bins from `first` on. Beyond the last bin, its long-run mean counts.
    BinReading mean(std::size_t flow, double first, double count) const;
    /// Longest skip from bin `first` on, in ticks, in which mean() predicts each flow's bytes within the tolerance. It
    /// ends where several groups agreed up to, or later if trusted_tail() says so. 0: not known. Where flows share no port,
    /// groups may differ in the first `least` bins.
    double trusted_skip(double first, double least = 0) const;
    /// Trusted skip from any bin on, by extrapolation from the calibration runs. 0: not known.
    double trusted_tail() const { return tail_skip_; }
    /// True if bin `first` has enough contributors; always true beyond the last bin that can be recorded.
    bool has_enough_contributors(double first) const;
    /// The trusted_tail() to be expected once `bins` bins have enough contributors, if these agree with the first one.
    /// A further calibration run need not be longer than this requires.
    double projected_skip(std::size_t bins) const {
        return kind_.shared ? (bins >= projected_bins_ ? projected_skip_ : 0) : trusted_tail();
    }
    /// True if the bytes in flight in bin `first` are about those at the profile's end, so that a skip may leave queued
    /// packets as they are. Always true for flows that share no port.
    bool is_settled(double first) const;

  private:
    /// Sums over contributors.
    struct Bin {
        double groups = 0;
        std::vector<BinReading> sum;       ///< by flow
        std::vector<double> rate_squares;  ///< by flow
        std::vector<double> sent_squares;  ///< by flow
    };

    static Bin total_of(double groups, const std::vector<BinReading>& means,
                        const std::vector<double>& rate_spread,
                        const std::vector<double>& sent_spread);
    double tolerance() const;
    double trusted_unshared(double first, double least) const;
    double trusted_shared(double first) const;
    bool diverged(std::size_t flow, std::size_t at, double before, double sent) const;
    BinReading bin(std::size_t flow, std::size_t at) const;
    BinReading mean_of_bins(std::size_t flow, std::size_t first, std::size_t last) const;
    const BinReading& sum_before(std::size_t flow, std::size_t at) const;
    double tail_skip_of(std::size_t flow, std::size_t bins) const;
    double tail_skip_of(std::size_t bins) const;
    double rate_spread(std::size_t flow, std::size_t at) const;
    double sent_spread(std::size_t flow, std::size_t at) const;
    void fit_tail(std::size_t bins);

    ProfileKind kind_;
    bool saturated_ = true;
    Bin initial_;
    std::vector<Bin> bins_;
    std::uint64_t additions_ = 0;
    std::size_t complete_bins_ = 0;  ///< leading bins with enough contributors
    /// Sums of mean readings over the bins before each bin, by flow. Valid up to `prefix_bins_`.
    mutable std::vector<BinReading> prefix_sums_;
    mutable std::size_t prefix_bins_ = 0;
    double tail_skip_ = 0;            ///< trusted skip beyond the bins, ticks
    double projected_skip_ = 0;       ///< tail skip by the first contributor to a shared port alone
    std::size_t projected_bins_ = 0;  ///< bins that `projected_skip_` is computed from
    std::vector<BinReading> tail_;    ///< by flow, mean of the later half of the bins
};

}  // namespace sluice::hybrid
