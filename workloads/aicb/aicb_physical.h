// SPDX-License-Identifier: Apache-2.0
/// AICB's physical workload, a .csv: what one rank of each group calls, in order, with groups and
/// sizes and without compute times. First line `[rank0 ~ rankN]` (optional), then the columns by
/// name: comm_type, comm_group, comm_group_size, msg_size, stage, src, dst, count, ...
/// Every rank runs all rows, each blocking, as AICB's own applier does. Groups as in aicb_layout.h.
/// Read and not run: markers (epoch_end, barriers), computation (it has no time), empty messages.
/// Point-to-point rows (isend, irecv) are of one rank of a pipeline, and pp_group is of all its stages;
/// what the other stages do is not in the file: they are doubtful and not run.
/// Of a file with a section for each stage ("[ pp_stage1: ...") the first is run.
/// comm_group_size may be absent, as in AICB's tests of collectives.
/// Errors: ConfigError "file:line: ...".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/aicb_layout.h"
#include "workloads/collective/collective_library.h"

namespace sluice {

struct AicbPhysicalRow {
    CollectiveKind kind = CollectiveKind::all_reduce;
    AicbGroup group = AicbGroup::tp;
    std::int64_t bytes = 0;
    std::uint32_t count = 1;  ///< how often in a row
    std::int32_t line = 0;
    std::string stage;
};

struct AicbPhysical {
    static constexpr std::uint32_t kMostRepeats = 1'000'000;

    /// Names the file; its header has the degrees and, as all_gpus, the ranks of the first line.
    AicbWorkload workload;
    std::vector<AicbPhysicalRow> rows;
};

/// The whole of `reader`, or its first `rows` collectives.
AicbPhysical parse_aicb_physical(TokenReader& reader, ImportReport& report, std::size_t rows = 0);

/// Unfinished. ConfigError if it would have more than `most_operations`, about.
JobGraph build_aicb_physical(const AicbPhysical& physical, const AicbLayout& layout,
                             const CollectiveOptions& options,
                             double most_operations = kMostAicbOperations);

}  // namespace sluice
