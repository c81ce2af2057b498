// SPDX-License-Identifier: Apache-2.0
/// What a comparison of perturbed runs keeps of each, and which flows have an answer flow by flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "experiment/comparison/run_folder.h"

namespace sluice {

struct TimedFlow {
    FlowId flow = 0;
    Tick fct = 0;
    Tick ideal = 0;              ///< 0 if unknown
    std::int64_t size = 0;       ///< payload bytes
    std::uint64_t identity = 0;  ///< of source, destination and size
};

struct PerturbedRun {
    RunCosts costs;
    std::optional<std::uint64_t> packet_hops;
    std::optional<std::uint64_t> hops_saved;
    std::optional<double> jct_s;   ///< none if the job is not complete
    std::vector<TimedFlow> flows;  ///< finished, ascending by flow
};

PerturbedRun perturbed_run(const RunFigures& figures);

/// The runs of one mode (or one restorer), by perturbation.
using PerturbedRuns = std::vector<PerturbedRun>;

/// The most by which a stable flow's completion time differs between two runs of the reference, as a
/// fraction of the least: ten times what the longest cables (scenario/perturbation.h) add to it.
inline constexpr double kStableSpread = 0.001;

/// The reference's flows by whether each has an answer of its own. A flow is stable if it finished in
/// every run of the reference and its completion times lie within kStableSpread; the others are
/// sensitive. Of the other modes only one thing is asked: do the numbers mean the same flows there?
struct FlowSplit {
    std::vector<FlowId> stable;  ///< ascending
    std::size_t sensitive = 0;   ///< of the reference, finished at least once
    /// A number means the same flow in all runs. If not (flows that are numbered as they are opened),
    /// none is stable.
    bool same_flows = true;

    bool is_stable(FlowId flow) const;
};

/// `reference`: at least one run. `others`: all other modes' runs.
FlowSplit split_flows(const PerturbedRuns& reference,
                      const std::vector<const PerturbedRuns*>& others);

/// Aggregates over a run's flows; none if there are none.
struct FctFigures {
    double mean_s = 0;
    double p99_s = 0;  ///< by nearest rank
};
std::optional<FctFigures> fct_figures(const PerturbedRun& run);
/// The same over the sensitive flows only.
std::optional<FctFigures> sensitive_fct_figures(const PerturbedRun& run, const FlowSplit& split);

/// Logarithms of the sensitive flows' slowdowns (completion time over ideal time; where the ideal is
/// unknown over a second).
std::vector<double> sensitive_slowdowns(const PerturbedRun& run, const FlowSplit& split);

}  // namespace sluice
