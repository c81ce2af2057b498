// SPDX-License-Identifier: Apache-2.0
/// Measured NCCL times, read from files of two formats:
///
/// - what nccl-tests prints (all_reduce_perf and the like), one or more runs one after the other. The
///   operation is in the line "# Collective test starting: all_reduce_perf", the number of GPUs in the
///   lines "#  Rank  0 ..."; the first time of a row, out of place, counts. A row of size 0 is left
///   out.
/// - CSV with a header line that names op, gpus, bytes and us_median (or us); a column system may tell
///   several machines apart, other columns are ignored. An op is named as in NCCL (all_gather,
///   alltoall) or as here (all-gather).
///
/// Rows of broadcast, reduce and send are left out: there is no table for them.
/// Errors: ConfigError with file and line, and what is allowed.
#pragma once

#include <string>
#include <vector>

#include "workloads/nccl_fit/nccl_sample.h"

namespace sluice {

struct NcclMeasurements {
    std::string system;  ///< of the column, or the device that nccl-tests names; may be empty
    std::vector<NcclSample> samples;
};

/// `system` chooses among several; `op`, if not empty, is that of tables that do not name theirs.
NcclMeasurements read_nccl_tests(const std::string& path, const std::string& system,
                                 const std::string& op);
NcclMeasurements parse_nccl_tests(const std::string& text, const std::string& source,
                                  const std::string& system, const std::string& op);

}  // namespace sluice
