// SPDX-License-Identifier: Apache-2.0
/// Tables of NCCL's choices, and what machines with them would measure.
#pragma once

#include <vector>

#include "workloads/model/nccl_table.h"
#include "workloads/nccl_fit/nccl_sample.h"

namespace sluice::nccl_data {

/// A ring for all kinds but all-to-all; 8 members have twice the rate.
inline NcclChoice ring(NcclProtocol protocol, double base, double step, double rate) {
    NcclChoice choice;
    choice.protocol = protocol;
    choice.base_us = base;
    choice.step_us = step;
    choice.bandwidth = {{2, rate}, {8, 2 * rate}};
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        choice.factor[static_cast<std::size_t>(kind)] = 1;
    }
    return choice;
}

/// What a machine with such a table would measure.
inline std::vector<NcclSample> measured_by(const NcclTable& table) {
    std::vector<NcclSample> samples;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        for (const std::uint32_t members : {2U, 4U, 8U}) {
            for (std::int64_t bytes = 1024; bytes <= 1 << 28; bytes *= 4) {
                const auto size = static_cast<double>(bytes);
                const NcclChoice* choice = table.choose(kind, members, size);
                samples.push_back({kind, members, bytes, time_us(*choice, kind, members, size)});
            }
        }
    }
    return samples;
}

}  // namespace sluice::nccl_data
