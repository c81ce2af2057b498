// SPDX-License-Identifier: Apache-2.0
/// `sluice compare --perturb N`: each mode over N perturbations of one network, and whether the modes
/// are equivalent.
#pragma once

#include "cli/compare/compare_options.h"

namespace sluice {

/// Runs what is not there yet, prints and writes the judgement; returns an exit code. ConfigError
/// before any run if something does not fit.
int compare_perturbed(const CompareOptions& options);

}  // namespace sluice
