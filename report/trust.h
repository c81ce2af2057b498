// SPDX-License-Identifier: Apache-2.0
/// What of a run was simulated by packets, what by equations, and what is known of the error.
#pragma once

#include "report/run_files.h"

namespace sluice::report {

/// {phases, hops, audit, replicas, random, commands, warnings, without_effect}:
///   phases    {step (s), unsteady: [...], steady: [...], memoized: [...], partitions, ended_by: {CAUSE: count}}: by step
///             the mean number of flows in such phases; null without phases.csv
///   hops      {executed, copies, equations}: packet-hops; null in a mode without packets
///   audit     {jct_s, low_s, high_s, fct_error, fct_half, share_checked}: the job's time as packets would have it, from the
///             95% interval of summary.json's audit; null without one
///   replicas  {metric: [value, ...]} by column of replicas.csv, in s; null without one
///   random    whether the seed decides anything
///   commands  [{why, command}]: what would measure an error that the run leaves open
Json trust_of(const RunFiles& run, double end_s);

}  // namespace sluice::report
