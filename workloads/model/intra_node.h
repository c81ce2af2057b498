// SPDX-License-Identifier: Apache-2.0
/// What communication inside a server costs: a linear model, calibrated per operation, GPU type and
/// number of GPUs (Multiverse, section 4.1, figure 7). time = latency + wire bytes / bandwidth, wire
/// bytes by the bus-bandwidth convention of nccl-tests: all-reduce 2 (n - 1) / n S, all-gather,
/// reduce-scatter and all-to-all (n - 1) / n S, broadcast, reduce and send S.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"

namespace sluice {

enum class CollectiveKind : std::uint8_t {
    all_reduce,
    reduce_scatter,
    all_gather,
    all_to_all,
    broadcast,
    reduce,
    send,
};
inline constexpr std::size_t kCollectiveKinds = 7;

const char* to_string(CollectiveKind kind);

/// Bytes on a member's wire per byte of the tensor (Collective::bytes), for n members.
double wire_factor(CollectiveKind kind, std::uint32_t members);

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
    explicit IntraNode(std::vector<Calibration> calibrations);

    /// Throws InternalError for a kind that has no calibration.
    LinearCost cost(CollectiveKind kind, std::uint32_t members) const;
    /// Of one operation on `bytes` (Collective::bytes), rounded up to whole picoseconds.
    Tick time(CollectiveKind kind, std::uint32_t members, std::int64_t bytes) const;

  private:
    std::vector<Calibration> calibrations_;
};

}  // namespace sluice
