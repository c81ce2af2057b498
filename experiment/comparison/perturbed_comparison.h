// SPDX-License-Identifier: Apache-2.0
/// The judgement of `sluice compare --perturb`: several runs of each mode, run i of all of them with
/// the same perturbation. Flows with an answer of their own are judged one by one, what is left of the
/// job by equivalence (docs/fidelity.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/comparison/comparison.h"
#include "experiment/comparison/distribution_distance.h"
#include "experiment/comparison/equivalence.h"
#include "experiment/comparison/perturbed_runs.h"

namespace sluice {

/// Fewer pairs can never find two distributions different at 5%: of the 2^(n - 1) ways to exchange the
/// modes within n pairs the one that was seen is at least one, and 1/16 is more than 5%.
inline constexpr std::size_t kFewestPairs = 6;

inline constexpr double kJctMargin = 0.005;
inline constexpr double kMeanMargin = 0.01;  ///< also of the mean error of stable flows
inline constexpr double kTailMargin = 0.03;  ///< of p99; also of the p99 error of stable flows
inline constexpr double kSignificance = 0.05;

/// Errors of stable flows, over flows and pairs of runs.
struct StableErrors {
    FctErrors errors;         ///< `flows` counts a flow once per pair
    double bias = 0;          ///< mean of the signed errors
    std::size_t missing = 0;  ///< finished in the reference, and not here

    bool within_margins() const {
        return missing == 0 && errors.mean <= kMeanMargin && errors.p99 <= kTailMargin;
    }
};

/// One mode against the reference. What cannot be had is absent: a job's time where a run did not
/// complete it, figures of sensitive flows where there are none.
struct Judgement {
    StableErrors stable;
    std::optional<Equivalence> jct;
    std::optional<Equivalence> mean_fct;  ///< of sensitive flows, as the next two
    std::optional<Equivalence> p99_fct;
    std::optional<DistributionDistance> distance;  ///< of logarithms of slowdowns
    std::optional<Equivalence> mean_fct_of_all;    ///< reported, not judged, as the next
    std::optional<Equivalence> p99_fct_of_all;

    /// More than chance, and by more than kMeanMargin.
    bool distributions_differ() const;
    /// biased if anything that is judged is off; else not resolved if anything is, or if the job's
    /// time is not known; else equivalent.
    Verdict verdict() const;
};

/// `reference` and `runs`: equally many, at least two.
Judgement judge(const PerturbedRuns& reference, const PerturbedRuns& runs, const FlowSplit& split);

/// By how much a mode's own runs differ: standard deviations of logarithms, 0 of what there is not.
struct Spreads {
    double jct = 0;
    double mean_fct = 0;  ///< of sensitive flows, as the next
    double p99_fct = 0;
};

/// What is told of each run.
struct RunLine {
    RunCosts costs;
    std::optional<std::uint64_t> packet_hops;
    std::optional<double> jct_s;
    std::optional<FctFigures> sensitive;
};

/// A mode's runs with what is said of them.
struct PerturbedRow : CostRow {
    std::vector<RunLine> lines;          ///< by run
    std::optional<Judgement> judgement;  ///< none of the reference

    Spreads spreads() const;
};

struct PerturbedComparison {
    std::string scenario;
    std::string version;
    std::size_t pairs = 0;
    std::size_t stable_flows = 0;
    std::size_t sensitive_flows = 0;
    bool same_flows = true;
    std::vector<PerturbedRow> rows;  ///< the first is the reference

    Verdict verdict() const;
};

/// The runs of a mode, or of hybrid mode with a restorer.
struct ModeRuns {
    Mode mode = Mode::packet;
    std::string restorer;  ///< may be empty
    PerturbedRuns runs;
};

/// `modes`: the first is the reference; all with equally many runs, at least two.
PerturbedComparison compare_perturbed_runs(const std::vector<ModeRuns>& modes);

}  // namespace sluice
