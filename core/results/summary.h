// SPDX-License-Identifier: Apache-2.0
/// summary.json: the figures of a run, from its completion times and counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/results/completion_times.h"
#include "core/results/run_records.h"

namespace sluice {

/// What a run's flows came to, gathered as they finish.
struct FlowTotals {
    std::size_t flows = 0;
    std::int64_t bytes = 0;
    std::int64_t bytes_completed = 0;
    CompletionTimes completion_times;  ///< of the finished flows
    Tick first_start = kNever;         ///< of the finished flows
    Tick last_finish = 0;
};

/// Closes `totals.completion_times`.
Summary summarize(FlowTotals& totals, const RunOutcome& outcome);

/// The audit's word on the time of the job that ends last: the error and half of its 95% interval, as
/// shares of it. False where there is none, or no job.
bool job_time_error(const RunOutcome& outcome, double& error, double& half);

/// The text of summary.json. Keys and units: docs/outputs.md.
std::string summary_json(const RunInfo& info, const RunOutcome& outcome, const Summary& summary);

}  // namespace sluice
