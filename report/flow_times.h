// SPDX-License-Identifier: Apache-2.0
/// Completion times and slowdowns of a run's flows, by class and by size: distributions, small enough for a page.
#pragma once

#include "report/paths.h"
#include "report/run_files.h"

namespace sluice::report {

/// {classes: [{name, flows, bytes, fct: D, slowdown: D or null, sizes: [S]}], listed: [flow], activity}, where
///   D         {mean, quantiles: [[share, value], ...]}: by nearest rank, closer together towards the tail; times in s
///   S         {low, high (bytes), flows, slowdown: {p50, p95, p99} or null, fct: the same}: powers of two of size
///   listed    the slowest by slowdown and by completion time, of all and of each class: {flow, src, dst, class, size, start, fct, slowdown, path}
///   activity  {step, flows: [...], rate: [...]}: mean number under way and b/s, each flow at its mean rate; steps in s
/// The first class is all flows together, if there is more than one.
Json flow_times(const RunFiles& run, const FlowPaths& paths);

}  // namespace sluice::report
