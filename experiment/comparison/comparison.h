// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of `sluice compare`: how far a run is from a reference run of the same
/// experiment. Errors are absolute relative errors, |value - reference| / reference, as fractions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/results/mode.h"
#include "experiment/comparison/run_folder.h"

namespace sluice {

/// Over the flows that finished in both runs. Percentiles by nearest rank.
struct FctErrors {
    std::size_t flows = 0;
    double mean = 0;
    double p50 = 0;
    double p99 = 0;
    double max = 0;
    double byte_weighted = 0;  ///< mean, each flow weighted by its payload
};

/// Errors of flows, gathered one by one.
class ErrorGathering {
  public:
    void add(double error, std::int64_t size);
    FctErrors finish();

  private:
    std::vector<double> errors_;
    double weighted_ = 0;
    double weight_ = 0;
};

struct ClassErrors {
    std::string name;
    FctErrors fct;
};

/// Mean throughput of a link is what it sent over the simulated time. Over the links that carried
/// more than 1% of what the reference's busiest one did.
struct LinkErrors {
    std::size_t links = 0;
    double mean = 0;
    double max = 0;
};

struct RunErrors {
    FctErrors fct;
    std::vector<ClassErrors> by_class;  ///< classes of the reference, in order of their first flow
    std::optional<double> jct;          ///< none if one of them finished nothing
    LinkErrors throughput;
    std::size_t missing = 0;  ///< flows finished in the reference only
    std::size_t extra = 0;    ///< flows finished in this run only
};

/// InternalError if the two are runs of different experiments.
RunErrors run_errors(const RunFigures& reference, const RunFigures& run);

/// The middle value, or the mean of the two middle ones; `values` is not empty.
double median(std::vector<double> values);

/// Of each figure its median over the runs.
RunCosts median_costs(const std::vector<RunCosts>& runs);

/// What a mode, or hybrid mode with one of several restorers, costs.
struct CostRow {
    Mode mode = Mode::packet;
    std::string restorer;  ///< hybrid mode's, where several are compared
    std::size_t runs = 0;
    RunCosts costs;      ///< medians over the runs
    double speedup = 1;  ///< the reference's wall time over this one's
    std::optional<std::uint64_t> packet_hops;
    std::optional<std::uint64_t> hops_saved;
    std::size_t flows = 0;  ///< finished

    /// Cores in use, on average.
    double cpu_use() const { return costs.wall_s > 0 ? costs.user_s / costs.wall_s : 0; }
    /// "packet", "hybrid", "hybrid-empty": how tables and folders call it.
    std::string label() const {
        return mode_name(mode) + (restorer.empty() ? restorer : "-" + restorer);
    }
};

/// One line of the comparison.
struct ComparisonRow : CostRow {
    RunErrors errors;
};

struct Comparison {
    std::string scenario;
    std::string version;
    bool interrupted = false;
    std::vector<ComparisonRow> rows;  ///< the first is the reference
};

}  // namespace sluice
