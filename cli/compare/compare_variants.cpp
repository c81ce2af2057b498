// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_variants.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/core.h>

#include "cli/child_run.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "experiment/comparison/comparison.h"
#include "experiment/comparison/variants.h"
#include "experiment/exit_codes.h"
#include "experiment/modes/mode_run.h"
#include "experiment/version.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

/// A variant that is to run, and what is known of it so far.
struct Variant {
    std::vector<std::string> sets;
    std::string folder;
    VariantRow row;
    std::vector<RunCosts> costs;  ///< by run
};

void take(Variant& variant) {
    std::vector<std::string> values = std::move(variant.row.values);
    variant.row = read_variant(variant.folder);
    variant.row.values = std::move(values);
    variant.costs.push_back(variant.row.costs);
    variant.row.runs = variant.costs.size();
    variant.row.costs = median_costs(variant.costs);
}

/// All of them, each a scenario that this build can run; `name` is the scenario's.
std::vector<Variant> checked_variants(const CompareOptions& options,
                                      const std::vector<VariedKey>& keys, std::string& name) {
    std::vector<Variant> variants;
    for (std::vector<std::string>& values : cross_product(keys, kMostVariants)) {
        Variant& variant = variants.emplace_back();
        variant.sets = options.sets;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            variant.sets.push_back(keys[k].key + "=" + values[k]);
        }
        const Scenario scenario = load_scenario(options.scenario, variant.sets);
        require_offered(scenario.mode, "mode");
        if (name.empty()) name = scenario.name;
        variant.row.values = std::move(values);
    }
    return variants;
}

/// Each its own, though values that differ may look alike as names of files.
void give_folders(std::vector<Variant>& variants, const std::vector<VariedKey>& keys,
                  const OutputFolder& folder) {
    std::set<std::string> taken;
    for (Variant& variant : variants) {
        const std::string name = variant_name(keys, variant.row.values);
        std::string free = name;
        for (int n = 2; !taken.insert(free).second; ++n) free = fmt::format("{}-{}", name, n);
        variant.folder = folder.file(free);
    }
}

}  // namespace

/// What --modes names is the first key.
std::vector<VariedKey> varied_keys(const CompareOptions& options) {
    std::vector<VariedKey> keys;
    if (!options.modes.empty()) {
        keys.push_back(parse_varied_key("mode=" + options.modes, "--modes"));
        for (const std::string& mode : keys.back().values) {
            require_offered(parse_mode(mode, "--modes"), "--modes " + mode);
        }
    }
    for (const std::string& text : options.vary) {
        keys.push_back(parse_varied_key(text, "--vary"));
    }
    return keys;
}

std::string variant_name(const std::vector<VariedKey>& keys,
                         const std::vector<std::string>& values) {
    constexpr std::size_t kLongest = 120;
    std::string name;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const std::string& key = keys[k].key;
        name += (k > 0 ? "," : "") + key.substr(key.rfind('.') + 1) + "=" + values[k];
    }
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) {
            return std::isalnum(c) == 0 && c != '.' && c != '=' && c != ',' && c != '-';
        },
        '_');
    return name.substr(0, kLongest);
}

int compare_variants(const CompareOptions& options) {
    const std::vector<VariedKey> keys = varied_keys(options);
    Variants result;
    result.version = program_version();
    for (const VariedKey& key : keys) result.keys.push_back(key.key);
    std::vector<Variant> variants = checked_variants(options, keys, result.scenario);
    const std::string directory =
        options.out.empty() ? "runs/" + result.scenario + "-compare" : options.out;
    const OutputFolder folder(directory);
    ComparisonFiles files(folder, options.json, true);
    give_folders(variants, keys, folder);

    const InterruptGuard guard;
    int exit_code = kExitDone;
    const std::size_t wanted = variants.size() * options.repeat;
    for (std::size_t n = 0; n < wanted && !result.interrupted; ++n) {
        Variant& next = variants[n % variants.size()];
        if (!options.quiet) {
            print_error("run {} of {}: {}\n", n + 1, wanted, variant_name(keys, next.row.values));
        }
        const int code = InterruptGuard::requested()
                             ? kExitInterrupted
                             : run_this_program(run_arguments(options.scenario, next.sets,
                                                              next.folder, options.quiet));
        if (code == kExitInterrupted) {
            result.interrupted = true;
        } else if (code == kExitDone || code == kExitWorkLeft) {
            exit_code = std::max(exit_code, code);
            take(next);
        } else {
            return code;  // the run has said why
        }
    }
    for (Variant& variant : variants) {
        if (!variant.costs.empty()) result.rows.push_back(std::move(variant.row));
    }
    if (!result.rows.empty()) {
        files.write(variants_json(result), variants_csv(result));
        if (!options.quiet) {
            print("{}  written to {}/\n", variants_table(result), directory);
        }
    }
    if (!result.interrupted) return exit_code;
    if (!options.quiet) {
        print_error("sluice: interrupted; results so far are in {}\n", directory);
    }
    return kExitInterrupted;
}

}  // namespace sluice
