// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.h"

#include <algorithm>

#include "core/error.h"
#include "report/answers.h"
#include "report/flow_times.h"
#include "report/network.h"
#include "report/paths.h"
#include "report/time_parts.h"
#include "report/timeline.h"
#include "report/trust.h"

namespace sluice::report {

Json run_report(const std::string& folder) {
    const RunFiles run = read_run_files(folder);
    try {
        // Simulated time ends before 2^63 ps.
        const double end_s = std::clamp(run.summary.at("simulated_s").get<double>(), 0.0, 9e6);
        const FlowPaths paths = paths_of(run);
        Json times = flow_times(run, paths);
        Json trust = trust_of(run, end_s);
        Json picture = network_picture(run, paths, end_s);
        Json answers = {{"bound", bound_answer(run, paths)},
                        {"hot", hot_answer(run, picture)},
                        {"flows", flows_answer(run, times)},
                        {"trust", trust_answer(run, trust)}};
        return {{"kind", "run"},
                {"name", run.summary.at("scenario")},
                {"folder", folder},
                {"summary", run.summary},
                {"answers", std::move(answers)},
                {"jobs_time", jobs_time(run)},
                {"timeline", timeline(run, end_s)},
                {"network", std::move(picture)},
                {"flows", std::move(times)},
                {"trust", std::move(trust)}};
    } catch (const Json::exception& error) {
        throw ConfigError(run.file("summary.json"), 0,
                          std::string("is no summary of a run: ") + error.what());
    }
}

}  // namespace sluice::report
