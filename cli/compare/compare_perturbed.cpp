// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_perturbed.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "cli/child_run.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "experiment/comparison/perturbed_comparison.h"
#include "experiment/comparison/perturbed_report.h"
#include "experiment/comparison/run_inputs.h"
#include "experiment/exit_codes.h"
#include "experiment/version.h"
#include "restore/restorers.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

void require_pairs(const CompareOptions& options, const std::vector<ComparedMode>& modes) {
    if (modes.size() < 2) {
        throw ConfigError("--perturb: needs at least two modes to compare");
    }
    if (options.perturb >= kFewestPairs || options.few) return;
    throw ConfigError(
        fmt::format("--perturb {}: must be at least {}, as fewer pairs cannot distinguish two "
                    "distributions at {:.0f}%; --few allows fewer",
                    options.perturb, kFewestPairs, 100 * kSignificance));
}

/// The runs of a comparison, in order: all modes of a perturbation, then the next one.
class PerturbedSeries {
  public:
    PerturbedSeries(const CompareOptions& options, const std::vector<ComparedMode>& modes,
                    const OutputFolder& folder)
        : options_(options), modes_(modes), folder_(folder) {
        for (const ComparedMode& mode : modes) {
            runs_.push_back({mode.mode, mode.restorer, {}});
            values_.push_back(scenario_values(options, mode));
            const Scenario scenario = make_scenario(values_.back(), options.scenario);
            models_.push_back(has_phases(mode.mode) ? restorer_model(scenario.phases) : "");
        }
    }

    /// An exit code; kExitDone and kExitWorkLeft: all is run.
    int run_all() {
        for (std::size_t pair = 0; pair < options_.perturb; ++pair) {
            for (std::size_t m = 0; m < modes_.size(); ++m) {
                const int code = run(pair, m);
                if (code != kExitDone && code != kExitWorkLeft) return code;
                exit_code_ = std::max(exit_code_, code);
            }
        }
        return exit_code_;
    }

    const std::vector<ModeRuns>& runs() const { return runs_; }
    std::size_t done() const { return done_; }
    std::size_t wanted() const { return options_.perturb * modes_.size(); }

  private:
    int run(std::size_t pair, std::size_t m) {
        const ComparedMode& mode = modes_[m];
        const std::string folder = folder_.file(fmt::format("{}/{}", pair, mode.label()));
        const std::vector<std::string> arguments = arguments_of(pair, mode, folder);
        const std::string inputs =
            run_inputs(values_[m], options_.scenario, arguments, folder_.file("."), models_[m]);
        std::optional<RunFigures> figures;
        int code = options_.fresh ? -1 : stamped_exit_code(folder, inputs);
        if (code >= 0) figures = whole_run(folder);
        say(pair, mode, figures.has_value());
        if (!figures) {
            remove_stamp(folder);
            code = InterruptGuard::requested() ? kExitInterrupted : run_this_program(arguments);
            if (code != kExitDone && code != kExitWorkLeft) return code;
            write_stamp(folder, inputs, code);
            figures = read_run(folder);
        }
        runs_[m].runs.push_back(perturbed_run(*figures));
        ++done_;
        return code;
    }

    /// What lies there, unless something of it was taken away since.
    static std::optional<RunFigures> whole_run(const std::string& folder) {
        try {
            return read_run(folder);
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    }

    /// The timeline is of no use here and the largest file of all, so it is left out unless the user
    /// asks for it; completion times are what is compared.
    std::vector<std::string> arguments_of(std::size_t pair, const ComparedMode& mode,
                                          const std::string& folder) const {
        CompareOptions options = options_;
        options.sets.insert(options.sets.begin(), "output.trace=false");
        return run_arguments(options, mode, folder,
                             {"output.flows=true", fmt::format("perturbation={}", pair)});
    }

    void say(std::size_t pair, const ComparedMode& mode, bool there) const {
        if (options_.quiet) return;
        print_error("run {} of {}: {}, perturbation {}{}\n", done_ + 1, wanted(), mode.label(),
                    pair, there ? ", already done" : "");
    }

    const CompareOptions& options_;
    const std::vector<ComparedMode>& modes_;
    const OutputFolder& folder_;
    std::vector<ConfigValue> values_;  ///< by mode
    std::vector<std::string> models_;  ///< by mode: the file of its restorer's model, or nothing
    std::vector<ModeRuns> runs_;       ///< by mode
    std::size_t done_ = 0;
    int exit_code_ = kExitDone;
};

}  // namespace

int compare_perturbed(const CompareOptions& options) {
    const std::vector<ComparedMode> modes = compared_modes(options);
    require_pairs(options, modes);
    CompareOptions perturbed = options;
    perturbed.sets.emplace_back("perturbation=1");
    const std::string name = check_scenario(perturbed, modes);
    const std::string directory = options.out.empty() ? "runs/" + name + "-perturbed" : options.out;
    const OutputFolder folder(directory);
    ComparisonFiles files(folder, options.json, false);

    const InterruptGuard guard;
    PerturbedSeries series(options, modes, folder);
    const int code = series.run_all();
    if (code == kExitInterrupted && !options.quiet) {
        print_error(
            "sluice: interrupted; {} of {} runs are in {}; repeat the command to continue\n",
            series.done(), series.wanted(), directory);
    }
    if (code != kExitDone && code != kExitWorkLeft) return code;
    PerturbedComparison comparison = compare_perturbed_runs(series.runs());
    comparison.scenario = name;
    comparison.version = program_version();
    files.write(perturbed_json(comparison));
    if (!options.quiet) {
        print("{}  written to {}/\n", perturbed_table(comparison), directory);
    }
    const bool missed = options.check && comparison.verdict() == Verdict::biased;
    return code == kExitDone && missed ? kExitMissed : code;
}

}  // namespace sluice
