// SPDX-License-Identifier: Apache-2.0
/// `sluice compare --vary KEY=A,B,...`: one scenario with every combination of some keys' values, each run in a
/// process of its own, in one table.
#pragma once

#include "cli/compare/compare_options.h"

namespace sluice {

/// Runs all, prints and writes the table; returns an exit code. ConfigError before any run if one of the
/// variants is no scenario.
int compare_variants(const CompareOptions& options);

}  // namespace sluice
