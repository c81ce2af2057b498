// SPDX-License-Identifier: Apache-2.0
/// `sluice compare --vary KEY=A,B,... --trials N`: the variants on the same draws, trial by trial, and which of them is
/// better with what confidence.
#pragma once

#include "cli/compare/compare_options.h"

namespace sluice {

/// Runs the trials, prints and writes what came of them; returns an exit code. ConfigError before any trial if one of the
/// variants is no scenario.
int compare_trials(const CompareOptions& options);

}  // namespace sluice
