// SPDX-License-Identifier: Apache-2.0
/// What a workload needs to know of a GPU type, as data: TOML files NAME.toml in data folders. Keys
/// and defaults: docs/scenario.md. Bandwidths are per GPU and direction. Bus bandwidth is what
/// collectives reach over an interconnect (links x calibrated bandwidth per link), not what the
/// links carry.
/// Errors: ConfigError with file, line and column; an unknown key or name is answered with the
/// nearest that exists.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "core/units.h"
#include "workloads/model/intra_node.h"
#include "workloads/model/nccl_cost_model.h"
#include "workloads/model/overlap_slowdown.h"

namespace sluice {

/// One way of communicating inside a server.
struct Interconnect {
    std::string name;       ///< "nvlink", "pcie", "nvls"
    LinearCost ring;        ///< of every operation that has no calibration of its own
    IntraNode calibration;  ///< every operation
};

struct Gpu {
    std::string name;
    double peak_flops = 0;    ///< dense 16-bit, per second
    double efficiency = 0.5;  ///< share of it that matrix products reach
    std::int64_t memory_bytes = 0;
    double memory_bytes_per_second = 0;
    double memory_efficiency = 0.8;            ///< share of it that is reached
    std::int64_t nvlink_bytes_per_second = 0;  ///< bus bandwidth; 0: the GPU has none
    Tick nvlink_latency = 0;                   ///< of one operation
    std::vector<Interconnect> interconnects;
    std::optional<OverlapSlowdown> overlap;  ///< none: nothing is known of it

    /// Null if there is none called so.
    const Interconnect* find_interconnect(const std::string& interconnect) const;
    /// ConfigError naming those that there are.
    const IntraNode& intra_node(const std::string& interconnect) const;
    /// As NCCL counts the link; the interconnect must exist.
    NcclLink nccl_link(const std::string& interconnect) const;
    /// The one that is used where nobody says: "nvlink", else "pcie".
    const char* usual_interconnect() const;
};

/// Of a table with a key for each kind; all must be given.
OverlapSlowdown read_overlap(ConfigSection section);
Gpu parse_gpu(const std::string& text, const std::string& source);
Gpu load_gpu(const std::string& path);
/// `name` is the path of a file, or NAME of a NAME.toml in the first of `folders` that has one.
Gpu find_gpu(const std::string& name, const std::vector<std::string>& folders);
/// The value of `key` in `section`, a name or a path (through `resolve`); `fallback` if missing.
Gpu read_gpu(ConfigSection& section, const std::string& key, const std::string& fallback,
             const std::vector<std::string>& folders,
             const std::function<std::string(const std::string&)>& resolve);
/// Names of all GPU types in `folders`, sorted, each once.
std::vector<std::string> gpu_names(const std::vector<std::string>& folders);

}  // namespace sluice
