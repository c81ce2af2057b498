// SPDX-License-Identifier: Apache-2.0
/// What communication inside a server costs: NCCL's choice (nccl_table.h) where the GPU type has a
/// table for the operation, else a linear model, calibrated per operation, GPU type and number of GPUs
/// (Multiverse, section 4.1, figure 7). time = latency + wire bytes / bandwidth, wire
/// bytes by the bus-bandwidth convention of nccl-tests: all-reduce 2 (n - 1) / n S, all-gather,
/// reduce-scatter and all-to-all (n - 1) / n S, broadcast, reduce and send S.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"
#include "workloads/model/collective_kind.h"
#include "workloads/model/nccl_table.h"

namespace sluice {

struct LinearCost {
    Tick latency = 0;
    double bytes_per_second = 0;  ///< bus bandwidth; 0: unlimited
};

/// Costs of one interconnect ("nvlink", "pcie", "nvls") of one GPU type. A calibration for n GPUs
/// holds for n and everything above it up to the next one.
class IntraNode {
  public:
    struct Calibration {
        CollectiveKind kind = CollectiveKind::all_reduce;
        std::uint32_t members = 2;
        LinearCost cost;
    };

    IntraNode() = default;
    explicit IntraNode(std::vector<Calibration> calibrations, NcclTable nccl = {});

    /// Of the linear model. Throws InternalError for a kind that has no calibration.
    LinearCost cost(CollectiveKind kind, std::uint32_t members) const;
    /// Of one operation on `bytes` (Collective::bytes), rounded up to whole picoseconds.
    Tick time(CollectiveKind kind, std::uint32_t members, std::int64_t bytes) const;
    /// Of an all-to-all in which no member sends or receives more than `most` bytes. (An even one's
    /// members send n - 1 of n parts.)
    Tick exchange_time(std::uint32_t members, std::int64_t most) const;
    /// What NCCL takes for it: "ring LL"; empty where the linear model alone counts.
    std::string choice(CollectiveKind kind, std::uint32_t members, std::int64_t bytes) const;
    /// Empty where the linear model alone counts.
    const NcclTable& nccl() const { return nccl_; }

  private:
    std::vector<Calibration> calibrations_;
    NcclTable nccl_;
};

}  // namespace sluice
