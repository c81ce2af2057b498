// SPDX-License-Identifier: Apache-2.0
/// A comparison of perturbed runs for people and for programs. Keys and units: docs/outputs.md.
#pragma once

#include <string>

#include "experiment/comparison/perturbed_comparison.h"

namespace sluice {

/// The tables for a terminal, in lines, the verdict of each mode last.
std::string perturbed_table(const PerturbedComparison& comparison);
/// compare.json.
std::string perturbed_json(const PerturbedComparison& comparison);

}  // namespace sluice
