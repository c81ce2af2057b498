// SPDX-License-Identifier: Apache-2.0
/// What a job's time is made of, and what each part rests on: summary.json's critical_path_s, in words.
#pragma once

#include <string>
#include <vector>

#include "report/run_files.h"

namespace sluice::report {

enum class PartKind {
    compute,
    network,   ///< waits for messages over simulated links
    servers,   ///< inside servers, not simulated
    software,  ///< delays around collectives
    other,
};

struct TimePart {
    std::string label;  ///< "DP flows across leaf-spine links"
    std::string cause;  ///< "DP", whatever links its flows cross; of other kinds the label
    PartKind kind = PartKind::other;
    double seconds = 0;
    double share = 0;   ///< of the critical path
    std::string basis;  ///< where its length comes from
};

/// Of one of summary.json's jobs; largest first. Empty if it has no critical path.
std::vector<TimePart> time_parts(const RunFiles& run, const Json& job);
/// The job that ends last among those with a critical path; nullptr if none has one.
const Json* longest_job(const Json& summary);
/// The sum of their shares.
double share_of(const std::vector<TimePart>& parts, PartKind kind);

/// By job with a critical path: {name, parts: [{label, kind, seconds, share, basis}]}.
Json jobs_time(const RunFiles& run);

}  // namespace sluice::report
