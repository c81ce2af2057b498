// SPDX-License-Identifier: Apache-2.0
/// NCCL's cost model of rings and NVLS inside one server, from the kind of link and its bandwidth alone.
/// The constants are NCCL's own (2.27 to 2.29: src/graph/tuning.cc, and search.cc for the heads of NVLS).
/// Nothing here is fitted.
#pragma once

#include <optional>

#include "workloads/model/nccl_table.h"

namespace sluice {

/// What GPUs of one server are joined by.
struct NcclLink {
    bool nvlink = true;  ///< else PCIe
    /// Of a GPU and direction, as NCCL's search counts it: A100 240e9, H100 370.8e9, B200 721.8e9.
    double bytes_per_second = 370.8e9;
};

/// None if NCCL does not use the pair on this link: LL128 is not used over PCIe, NVLS needs NVSwitches
/// of the third generation or later (H100).
std::optional<NcclChoice::CostModel> nccl_cost_model(const NcclLink& link, NcclAlgorithm algorithm,
                                                     NcclProtocol protocol);

/// Sends to another member over PCIe use LL up to so many bytes and never beyond: 16 KiB (NCCL_P2P_LL_THRESHOLD) on each
/// of two channels (ncclTopoGetNchannels). Over NVLink it depends on the channels that NCCL's search finds.
inline constexpr double kLargestPcieLlBlock = 2 * 16384;

/// NVLS is used in groups of at least so many.
inline constexpr std::uint32_t kFewestOfNvls = 3;

}  // namespace sluice
