// SPDX-License-Identifier: Apache-2.0
/// One measured collective inside a server.
#pragma once

#include <cstdint>

#include "workloads/model/collective_kind.h"

namespace sluice {

struct NcclSample {
    CollectiveKind kind = CollectiveKind::all_reduce;
    std::uint32_t members = 2;
    std::int64_t bytes = 0;  ///< as nccl-tests counts size; positive
    double us = 0;           ///< positive
};

}  // namespace sluice
