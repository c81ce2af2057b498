// SPDX-License-Identifier: Apache-2.0
/// What a workload needs to know of a GPU type: dense 16-bit peak, and the bus bandwidth that
/// collectives reach over its NVLink (links x calibrated 20 or 20.6 GB/s per link).
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

struct Gpu {
    std::string name;
    double peak_flops = 0;                     ///< per second
    std::int64_t nvlink_bytes_per_second = 0;  ///< per direction
};

/// Throws ConfigError naming the known types if `name` is none of them.
const Gpu& find_gpu(const std::string& name);

}  // namespace sluice
