// SPDX-License-Identifier: Apache-2.0
/// Fits the table of NCCL's choices (workloads/model/nccl_table.h) to measured times. All-reduce,
/// all-gather and reduce-scatter share a ring's protocols: base, step and overlap of each are the same
/// for all operations and numbers of GPUs, so that few parameters stand for many rows. Which protocol NCCL
/// takes is not fitted: its own rule says it (nccl_cost_model.h). Priors hold what the rows do not determine.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workloads/model/nccl_cost_model.h"
#include "workloads/model/nccl_table.h"
#include "workloads/nccl_fit/nccl_sample.h"

namespace sluice {

/// ConfigError if an operation has fewer than 3 rows; operations that NCCL's table does not know
/// (broadcast, reduce, send) are refused. The result does not depend on the order of the rows.
NcclTable fit_nccl_table(std::vector<NcclSample> samples, const NcclLink& link);

/// How many figures fit_nccl_table() chose for this table.
std::size_t parameter_count(const NcclTable& table);

/// |prediction / measured - 1| of one band of sizes.
struct NcclErrors {
    std::size_t rows = 0;
    double median = 0;
    double p95 = 0;  ///< 95th percentile: the smallest that 95% of the rows do not exceed
};

/// To 64 kB, to 4 MB, to 64 MB (2^16, 2^22, 2^26 B), beyond, and all together.
inline constexpr std::size_t kNcclBands = 5;
inline constexpr std::array<const char*, kNcclBands> kNcclBandNames = {"to 64 kB", "to 4 MB",
                                                                       "to 64 MB", "beyond", "all"};
std::array<NcclErrors, kNcclBands> errors_of(const std::vector<double>& relative,
                                             const std::vector<NcclSample>& samples);

/// Relative error (prediction / measured - 1) of each sample.
std::vector<double> relative_errors(const NcclTable& table, const std::vector<NcclSample>& samples);

/// The same, each sample predicted from the other half: in each operation and number of GPUs every
/// second size is left out, then the others. `samples` in any order; the result is in theirs.
std::vector<double> held_out_errors(const std::vector<NcclSample>& samples, const NcclLink& link);

}  // namespace sluice
