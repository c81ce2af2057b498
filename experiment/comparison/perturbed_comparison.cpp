// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/perturbed_comparison.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace sluice {

namespace {

using Pairs = std::vector<std::pair<double, double>>;

/// Tested where every run of both sides has the figure and it is positive.
template <typename Figure>
std::optional<Equivalence> tested(const PerturbedRuns& reference, const PerturbedRuns& runs,
                                  double margin, const Figure& figure) {
    Pairs pairs;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const std::optional<double> theirs = figure(reference[i]);
        const std::optional<double> ours = figure(runs[i]);
        if (!theirs || !ours || *theirs <= 0 || *ours <= 0) return std::nullopt;
        pairs.emplace_back(*theirs, *ours);
    }
    return test_equivalence(pairs, margin);
}

/// Signed errors of stable flows of one pair of runs.
void add_stable(const PerturbedRun& reference, const PerturbedRun& run, const FlowSplit& split,
                ErrorGathering& errors, StableErrors& stable) {
    auto ours = run.flows.begin();
    for (const TimedFlow& flow : reference.flows) {
        if (!split.is_stable(flow.flow)) continue;
        while (ours != run.flows.end() && ours->flow < flow.flow) ++ours;
        if (ours == run.flows.end() || ours->flow != flow.flow) {
            ++stable.missing;
            continue;
        }
        const double error =
            static_cast<double>(ours->fct - flow.fct) / static_cast<double>(flow.fct);
        stable.bias += error;
        errors.add(std::abs(error), flow.size);
    }
}

StableErrors stable_errors(const PerturbedRuns& reference, const PerturbedRuns& runs,
                           const FlowSplit& split) {
    StableErrors stable;
    ErrorGathering errors;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        add_stable(reference[i], runs[i], split, errors, stable);
    }
    stable.errors = errors.finish();
    if (stable.errors.flows > 0) stable.bias /= static_cast<double>(stable.errors.flows);
    return stable;
}

std::optional<DistributionDistance> distance_of(const PerturbedRuns& reference,
                                                const PerturbedRuns& runs, const FlowSplit& split) {
    std::vector<std::vector<double>> theirs;
    std::vector<std::vector<double>> ours;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        theirs.push_back(sensitive_slowdowns(reference[i], split));
        ours.push_back(sensitive_slowdowns(runs[i], split));
        if (theirs.back().empty() || ours.back().empty()) return std::nullopt;
    }
    return distribution_distance(theirs, ours);
}

std::optional<std::uint64_t> middle_count(const PerturbedRuns& runs,
                                          std::optional<std::uint64_t> PerturbedRun::*figure) {
    std::vector<std::uint64_t> counts;
    for (const PerturbedRun& run : runs) {
        if (!(run.*figure)) return std::nullopt;
        counts.push_back(*(run.*figure));
    }
    std::sort(counts.begin(), counts.end());
    return counts[counts.size() / 2];
}

PerturbedRow row_of(const ModeRuns& mode, const FlowSplit& split) {
    PerturbedRow row;
    row.mode = mode.mode;
    row.restorer = mode.restorer;
    row.runs = mode.runs.size();
    std::vector<RunCosts> costs;
    for (const PerturbedRun& run : mode.runs) {
        costs.push_back(run.costs);
        row.flows = std::max(row.flows, run.flows.size());
        row.lines.push_back(
            {run.costs, run.packet_hops, run.jct_s, sensitive_fct_figures(run, split)});
    }
    row.costs = median_costs(costs);
    row.packet_hops = middle_count(mode.runs, &PerturbedRun::packet_hops);
    row.hops_saved = middle_count(mode.runs, &PerturbedRun::hops_saved);
    return row;
}

}  // namespace

bool Judgement::distributions_differ() const {
    return distance && distance->p_value <= kSignificance &&
           distance->distance > std::log1p(kMeanMargin);
}

Verdict Judgement::verdict() const {
    bool resolved = jct.has_value();
    bool biased = distributions_differ() || !stable.within_margins();
    for (const std::optional<Equivalence>* test : {&jct, &mean_fct, &p99_fct}) {
        if (!*test) continue;
        biased = biased || (*test)->verdict == Verdict::biased;
        resolved = resolved && (*test)->verdict != Verdict::not_resolved;
    }
    if (biased) return Verdict::biased;
    return resolved ? Verdict::equivalent : Verdict::not_resolved;
}

Spreads PerturbedRow::spreads() const {
    std::vector<double> times;
    std::vector<double> means;
    std::vector<double> tails;
    for (const RunLine& line : lines) {
        if (line.jct_s && *line.jct_s > 0) times.push_back(*line.jct_s);
        if (!line.sensitive) continue;
        means.push_back(line.sensitive->mean_s);
        tails.push_back(line.sensitive->p99_s);
    }
    return {log_deviation(times), log_deviation(means), log_deviation(tails)};
}

Judgement judge(const PerturbedRuns& reference, const PerturbedRuns& runs, const FlowSplit& split) {
    if (reference.size() != runs.size() || reference.size() < 2) {
        throw InternalError("a judgement needs two pairs of runs");
    }
    const auto test = [&](double margin, const auto& figure) {
        return tested(reference, runs, margin, figure);
    };
    const auto mean = [](const std::optional<FctFigures>& figures) {
        return figures ? std::optional(figures->mean_s) : std::nullopt;
    };
    const auto p99 = [](const std::optional<FctFigures>& figures) {
        return figures ? std::optional(figures->p99_s) : std::nullopt;
    };
    const auto sensitive = [&](const PerturbedRun& run) {
        return sensitive_fct_figures(run, split);
    };
    using Run = PerturbedRun;
    Judgement result;
    result.stable = stable_errors(reference, runs, split);
    result.jct = test(kJctMargin, [](const Run& run) { return run.jct_s; });
    result.mean_fct = test(kMeanMargin, [&](const Run& run) { return mean(sensitive(run)); });
    result.p99_fct = test(kTailMargin, [&](const Run& run) { return p99(sensitive(run)); });
    result.distance = distance_of(reference, runs, split);
    result.mean_fct_of_all =
        test(kMeanMargin, [&](const Run& run) { return mean(fct_figures(run)); });
    result.p99_fct_of_all =
        test(kTailMargin, [&](const Run& run) { return p99(fct_figures(run)); });
    return result;
}

Verdict PerturbedComparison::verdict() const {
    Verdict worst = Verdict::equivalent;
    for (const PerturbedRow& row : rows) {
        if (!row.judgement) continue;
        const Verdict one = row.judgement->verdict();
        if (one == Verdict::biased) return one;
        if (one == Verdict::not_resolved) worst = one;
    }
    return worst;
}

PerturbedComparison compare_perturbed_runs(const std::vector<ModeRuns>& modes) {
    std::vector<const PerturbedRuns*> others;
    for (std::size_t i = 1; i < modes.size(); ++i) others.push_back(&modes[i].runs);
    const PerturbedRuns& reference = modes.front().runs;
    const FlowSplit split = split_flows(reference, others);
    PerturbedComparison comparison;
    comparison.pairs = reference.size();
    comparison.stable_flows = split.stable.size();
    comparison.sensitive_flows = split.sensitive;
    comparison.same_flows = split.same_flows;
    for (const ModeRuns& mode : modes) {
        PerturbedRow row = row_of(mode, split);
        if (!comparison.rows.empty()) {
            row.judgement = judge(reference, mode.runs, split);
            if (row.costs.wall_s > 0) {
                row.speedup = comparison.rows.front().costs.wall_s / row.costs.wall_s;
            }
        }
        comparison.rows.push_back(std::move(row));
    }
    return comparison;
}

}  // namespace sluice
