// SPDX-License-Identifier: Apache-2.0
/// What `sluice compare` is asked for, and what its two kinds of comparison (of single runs, and of
/// perturbed ones) have in common.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/results/mode.h"
#include "core/results/output_file.h"
#include "core/results/output_folder.h"
#include "core/text/config_value.h"

namespace sluice {

struct CompareOptions {
    std::string scenario;  ///< SCENARIO.toml
    std::string modes;     ///< "packet,hybrid,..."; empty: all that this build offers
    std::optional<std::string> restorers;  ///< "hold,empty,..."; none: the scenario's
    std::string out;                       ///< empty: runs/NAME-compare
    std::string json;                      ///< a second place for compare.json; may be empty
    std::vector<std::string> sets;         ///< "key=value"
    std::vector<std::string> vary;         ///< "key=value,value,..."
    std::size_t repeat = 1;                ///< runs of each mode
    std::size_t perturb = 0;               ///< pairs of perturbed runs; 0: none
    std::string trials;                    ///< "auto" or a number; empty: single runs
    double margin = 0;                     ///< of trials: what difference is none
    bool few = false;                      ///< fewer pairs than a judgement needs
    bool fresh = false;                    ///< runs that are there count for nothing
    bool check = false;                    ///< a bias is an exit code
    bool quiet = false;
};

/// What is run: a mode, or hybrid mode with a restorer.
struct ComparedMode {
    Mode mode = Mode::packet;
    std::string restorer;  ///< may be empty

    /// "packet", "hybrid-empty": also its folder.
    std::string label() const;
};

/// The modes, hybrid mode once for each restorer. ConfigError if one is unknown, not offered or named
/// twice, and if there are restorers without hybrid mode.
std::vector<ComparedMode> compared_modes(const CompareOptions& options);

/// The scenario with its overrides, as one of the modes runs it.
ConfigValue scenario_values(const CompareOptions& options, const ComparedMode& mode);

/// The scenario's name, after checks in every mode: a slip must not come up after the first run.
std::string check_scenario(const CompareOptions& options, const std::vector<ComparedMode>& modes);

/// `sluice run` of one of the modes into a folder, with `sets` after the user's own.
std::vector<std::string> run_arguments(const CompareOptions& options, const ComparedMode& mode,
                                       const std::string& folder,
                                       const std::vector<std::string>& sets = {});

/// `sluice run` of a scenario with overrides into a folder.
std::vector<std::string> run_arguments(const std::string& scenario,
                                       const std::vector<std::string>& sets,
                                       const std::string& folder, bool quiet);

/// The files of a comparison: opened before anything runs, in place when it is over.
class ComparisonFiles {
  public:
    ComparisonFiles(const OutputFolder& folder, const std::string& json, bool with_csv);
    ~ComparisonFiles();
    ComparisonFiles(const ComparisonFiles&) = delete;
    ComparisonFiles& operator=(const ComparisonFiles&) = delete;

    void write(const std::string& json, const std::string& csv = "");

  private:
    void open(const std::string& json, bool with_csv);
    void close();

    const OutputFolder& folder_;
    std::unique_ptr<OutputFile> csv_;
    std::unique_ptr<OutputFile> json_;
    std::unique_ptr<OutputFile> extra_json_;  ///< --json
};

}  // namespace sluice
