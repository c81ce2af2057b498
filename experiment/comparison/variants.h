// SPDX-License-Identifier: Apache-2.0
/// Runs of one scenario that differ in the values of some keys, side by side: what `sluice compare --vary`
/// tables. None of them is the reference of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/comparison/run_folder.h"
#include "experiment/comparison/same_flows.h"

namespace sluice {

/// A key of the scenario, and the values that it takes in turn.
struct VariedKey {
    std::string key;
    std::vector<std::string> values;  ///< as --set has them
};

/// "key=a,b,c"; a comma in brackets, braces or quotes belongs to its value. `what` is how messages speak of it.
/// ConfigError if there is no value, or one twice.
VariedKey parse_varied_key(const std::string& text, const std::string& what);

/// The cross product: for each variant, the values in the order of `keys`; the last key varies fastest.
/// ConfigError if a key is named twice, or if there are more than `most` variants.
std::vector<std::vector<std::string>> cross_product(const std::vector<VariedKey>& keys,
                                                    std::size_t most);

/// What of completion times is tabled, in seconds.
struct VariantFct {
    double mean_s = 0;
    double p50_s = 0;
    double p99_s = 0;  ///< by nearest rank, as run's summary has it
    double max_s = 0;
};

struct VariantRow {
    std::vector<std::string> values;  ///< by key
    std::string folder;               ///< of its last run
    std::size_t runs = 0;
    RunCosts costs;                 ///< medians over the runs
    std::size_t flows = 0;          ///< finished
    std::size_t flows_left = 0;     ///< not finished
    std::optional<VariantFct> fct;  ///< none if no flow finished
    std::optional<double> jct_s;
    std::optional<std::uint64_t> packet_hops;
    std::optional<std::uint64_t> ecn_marks;  ///< none in a mode without packets, as the two below
    std::optional<std::uint64_t> pfc_pauses;
    std::optional<std::uint64_t> drops;
    std::optional<FlowsSeen> seen;  ///< of the last run
};

struct Variants {
    std::string scenario;
    std::string version;
    bool interrupted = false;
    std::vector<std::string> keys;
    std::vector<VariantRow> rows;
};

/// The figures of the complete run in `folder`, but for `values`, `runs` and medians. ConfigError if it
/// holds none.
VariantRow read_variant(const std::string& folder);

/// The table for a terminal, in lines; compare.csv; compare.json. Columns, keys and units: docs/outputs.md.
std::string variants_table(const Variants& variants);
std::string variants_csv(const Variants& variants);
std::string variants_json(const Variants& variants);

}  // namespace sluice
