// SPDX-License-Identifier: Apache-2.0
/// SimAI's result table, EndToEnd.csv: per layer, compute and communication of rank 0, and where its
/// time went. Times are nanoseconds here and microseconds in the file; "GB/s" is 2^30 bytes/s, as in
/// SimAI. Columns: docs/models/aicb.md.
/// Where the time of rank 0 went, from a run:
///   compute       what its compute operations took
///   TP, EP        its blocking communications; DP, DP_EP: the part of the others that nothing hid,
///                 shared instants counted for the one that ends first
///   PP, bubble    waiting for a stage's boundary: since the peer sent, and before that
///   exposed       all the rest of the time
/// SimAI's own account of a run (AicbAccount::simai; Layer.cc, Workload.cc) differs: the time is that
/// of rank 0's last step; of what nothing waits for only layer 0's share counts as waited for, from the end of the
/// program on; the bubble is (pp - 1) / (ga x vpp) of all layers' time but "embedding_layer"'s, and
/// no part of the total.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/job/job_application.h"
#include "workloads/aicb/aicb_graph.h"

namespace sluice {

/// Bytes of the GB by which SimAI divides.
inline constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

struct AicbPhaseTimes {
    double compute = 0;
    double exposed = 0;        ///< communication that rank 0 waited for
    double communication = 0;  ///< all of it
};

struct AicbTotals {
    double dp = 0;
    double dp_ep = 0;
    double tp = 0;
    double ep = 0;
    double pp = 0;
    double bubble = 0;
    double compute = 0;
    double exposed = 0;
    double total = 0;
};

struct AicbEndToEnd {
    std::vector<std::array<AicbPhaseTimes, kAicbPhases>> layers;
    AicbTotals totals;
};

enum class AicbAccount : std::uint8_t { whole, simai };

/// Of a run that is complete. `header`: what the file says of the pipeline, for SimAI's account.
AicbEndToEnd measure_aicb(const AicbWorkload& workload, const std::vector<AicbRecord>& records,
                          const JobApplication& application,
                          AicbAccount account = AicbAccount::whole, const AicbHeader& header = {});

/// How SimAI's two programs write the table.
enum class EndToEndStyle : std::uint8_t {
    simulated,   ///< six decimals, column "workload finished at", sums
    analytical,  ///< whole microseconds
};

/// `run` is the second column's name and value, `file` the summary's first field.
std::string format_end_to_end(const AicbWorkload& workload, const AicbLayout& layout,
                              const AicbEndToEnd& result, EndToEndStyle style,
                              const std::string& run, const std::string& file);

}  // namespace sluice
