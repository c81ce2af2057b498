// SPDX-License-Identifier: Apache-2.0
/// A comparison for people and for programs. Columns, keys and units: docs/outputs.md.
#pragma once

#include <string>

#include "experiment/comparison/comparison.h"

namespace sluice {

/// The table for a terminal, in lines.
std::string comparison_table(const Comparison& comparison);
/// compare.csv.
std::string comparison_csv(const Comparison& comparison);
/// compare.json.
std::string comparison_json(const Comparison& comparison);

}  // namespace sluice
