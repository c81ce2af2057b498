// SPDX-License-Identifier: Apache-2.0
/// `sluice compare --vary KEY=A,B,...`: one scenario with every combination of some keys' values, each run in a
/// process of its own, in one table.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/compare_options.h"
#include "experiment/comparison/variants.h"

namespace sluice {

/// More is a slip, or a study that wants a script.
inline constexpr std::size_t kMostVariants = 1000;

/// What varies; what --modes names is the first key. ConfigError.
std::vector<VariedKey> varied_keys(const CompareOptions& options);

/// A variant as a folder and a row are called: "law=hpcc,size=1MB".
std::string variant_name(const std::vector<VariedKey>& keys,
                         const std::vector<std::string>& values);

/// Runs all, prints and writes the table; returns an exit code. ConfigError before any run if one of the
/// variants is no scenario.
int compare_variants(const CompareOptions& options);

}  // namespace sluice
