// SPDX-License-Identifier: Apache-2.0
/// SimAI's analytical mode: every communication of a workload takes
///     bytes x (n - 1) / n (all-reduce: twice that) / (bus bandwidth x ratio)
/// (Layer.cc and calbusbw.cc of aliyun/SimAI), nothing overlaps but by the given ratios, and
///     bubble      = (all but embedding layers and weight gradients' communication) (pp - 1) / (ga vpp)
///     exposed PP  = 2 vpp ga pp_comm / bandwidth, times 1 - overlap
/// GB/s are 2^30 bytes per second, as there. Bus bandwidth: from a busbw.yaml, per group and kind; or
/// from NVLink and NIC bandwidths (inside a server NVLink's; across, the lesser of NVLink and NICs;
/// all-to-all limited by NICs) with an efficiency by size and servers from SimAI's ratio tables, and
/// below 1 MiB a constant time by group size.
/// Where the original has no answer we differ: group sizes without a small-message entry are
/// interpolated (there 0), sizes beyond a ratio table take its last row (there an abort), all-gather
/// in EP groups costs what its bandwidth says (with a busbw.yaml there 0), NICs per GPU may be a
/// fraction (there 0, and negative times).
/// Errors: ConfigError with file and line, and where a bandwidth that is needed is missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/text/tokens.h"
#include "workloads/aicb/aicb_layout.h"
#include "workloads/aicb/end_to_end.h"

namespace sluice {

/// A busbw.yaml. GB/s; absent: null.
struct BusBandwidths {
    struct Kinds {
        std::optional<double> all_reduce;
        std::optional<double> all_gather;
        std::optional<double> reduce_scatter;
        std::optional<double> all_to_all;
    };
    Kinds tp;
    Kinds dp;
    Kinds ep;
    std::optional<double> pp;
    std::string file;
};

BusBandwidths parse_bus_bandwidths(TokenReader& reader, ImportReport& report);

/// One of SimAI's ratio tables: efficiencies by message size (rows) and servers (columns).
class RatioTable {
  public:
    /// Column of all-to-alls whose TP group fills servers.
    static constexpr std::uint32_t kMulti = 9;

    static RatioTable parse(TokenReader& reader);
    /// Relative to the last row. `servers`: 1, 2, 4, ... 128 or kMulti; others are taken as 16.
    double ratio(double bytes, std::uint32_t servers) const;

  private:
    struct Row {
        double size = 0;
        std::vector<double> values;
    };
    std::vector<Row> rows_;
};

struct SimaiAnalytical {
    std::uint32_t gpus_per_server = 8;
    double nvlink = 0;  ///< GB/s, of a GPU
    double nic = 0;     ///< GB/s, of a NIC
    double nics_per_server = 8;
    double dp_overlap = 0;
    double tp_overlap = 0;
    double ep_overlap = 0;
    double pp_overlap = 1;
    std::optional<BusBandwidths> bus;  ///< in place of nvlink, nic and the tables
    std::optional<RatioTable> nvlink_ratio;
    std::optional<RatioTable> nic_ratio;
    std::optional<RatioTable> all_to_all_ratio;
};

/// Bus bandwidth per link type, GB/s: 20 (A100, A800) or 20.6 (H100, H800, H20) per NVLink, 12, 8,
/// 18, 8, 18 of them; cx6 23.5, cx7 and bf3 48.5. ConfigError for others.
double simai_nvlink_bandwidth(const std::string& gpu);
double simai_nic_bandwidth(const std::string& nic);

/// Nanoseconds, whole. `group` of `layout`'s sizes.
double simai_communication_time(const SimaiAnalytical& parameters, const AicbLayout& layout,
                                AicbGroup group, CollectiveKind kind, std::int64_t bytes);

AicbEndToEnd simai_end_to_end(const SimaiAnalytical& parameters, const AicbWorkload& workload,
                              const AicbLayout& layout);

}  // namespace sluice
