// SPDX-License-Identifier: Apache-2.0
/// From what a random sample of skips was off by to what a run is off by, with an interval.
///
/// *Estimator.* Each skip is drawn with a probability p that is known before (Audit: systematically, by a random
/// start; variances are those of independent draws, which are no smaller where skips come in any order that
/// matters). Of each drawn skip s of a flow i the time e(s, i) is measured that packets would have taken more
/// than the run says. With T(i) the completion times of F flows in the run,
///
///     lost share of a flow = 1/F sum_i sum_s e(s, i) / T(i)
///
/// is estimated by ratios (Hajek): Horvitz-Thompson's sums of e / T and of the skipped share of flows, d / T (d the
/// length of the skip), over drawn skips, weighted by 1 / p; their quotient, what a skipped tick is off by, times the
/// skipped share of all skips, which is known exactly. An error per tick varies far less than the lengths of
/// skips do. It is another one where flows are short, and skipped as they begin, than in the middle of long ones: so
/// there is a ratio for each *stratum*, flows of like lengths (Cochran, Sampling Techniques, 6.10: separate ratio
/// estimates), each of at least kFewest clusters; strata of fewer, or of which too little was drawn, join their
/// neighbours. Of a stratum of which nothing was drawn it may be nothing, or twice the largest: as much is added to the half-width. The same with flows' times for
/// weights, sum e by sum d, is the flow-time lost: what a message on a job's critical path is off by on average.
///
/// *Interval.* Skips of one partition start from like states, and what goes on in a shadow is seen with the
/// same noise, so they count together: a cluster is a set of flows, from when they share ports to when one comes or
/// goes. With u(c) = z(c) - ratio x(c) the residual of a cluster's weighted sums and G clusters,
///
///     variance(ratio) = G / (G - 1) sum_c u(c)^2 / (sum_c x(c))^2          in each stratum
///
/// (linearized; Cochran, 6.4; Liang and Zeger's robust variance). Totals add up over strata, and so do their
/// variances; the half-width is Student's 97.5% quantile times the root, with Welch and Satterthwaite's degrees of
/// freedom, a stratum having (sum x)^2 / sum x^2 - 1 (Kish), at least 1: few clusters, or a few that weigh much, make a
/// wide interval. Not a bootstrap: it resamples clusters, of which a short run has a handful, and is too narrow
/// then, by what the quantile makes up for here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

namespace sluice::audit {

/// An estimate and the half of its 95% interval.
struct Interval {
    double mean = 0;
    double half = 0;
};

/// A sample's weighted sums, and what is known of all units, drawn or not.
class StratifiedRatio {
  public:
    /// Clusters of a stratum, unless there are fewer in all.
    static constexpr std::size_t kFewest = 5;
    /// What is known of what was drawn, weighted, is at least this part of all; else the ratio is that of few odd
    /// units.
    static constexpr double kLeastKnown = 1.0 / 3;

    /// What is known of a unit, whether it was drawn or not.
    void count(int stratum, double known) { strata_[stratum].all += known; }
    /// Of a drawn unit of `cluster`; both have been divided by its probability.
    void add(int stratum, std::uint64_t cluster, double measured, double known);
    std::size_t clusters() const { return names_.size(); }
    /// At least two clusters make an interval.
    bool enough() const { return clusters() >= 2; }
    /// What would have been measured of all units. enough().
    Interval total() const;
    double known() const;
    /// What was measured, which is all that there is where every unit was drawn with certainty.
    double measured() const;

  private:
    struct Sums {
        double measured = 0;
        double known = 0;
    };
    struct Stratum {
        double all = 0;
        double unseen = 0;  ///< of it, of strata without clusters
        std::map<std::uint64_t, Sums> clusters;
        double drawn() const;
        void join(const Stratum& other);
    };
    std::vector<Stratum> joined() const;

    std::map<int, Stratum> strata_;
    std::unordered_set<std::uint64_t> names_;  ///< of clusters, in whatever strata
};

}  // namespace sluice::audit
