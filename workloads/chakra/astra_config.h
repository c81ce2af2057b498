// SPDX-License-Identifier: Apache-2.0
/// ASTRA-sim 2's configuration files besides the traces: system.json, network.yml of the analytical
/// backend, logical topology, communicator groups and remote memory. Keys, units and defaults are
/// that simulator's (docs/models/chakra.md).
/// Errors: ConfigError "FILE:LINE: ..."; keys that are unknown or have no effect here are notes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/text/import_report.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {

enum class Algorithm : std::uint8_t { ring, direct, halving_doubling, double_binary_tree };

/// How a collective crosses one dimension: "ring", "direct4", "oneRing", ...
struct DimensionAlgorithm {
    Algorithm algorithm = Algorithm::ring;
    bool flat = false;         ///< one...: all dimensions as one
    std::uint32_t window = 0;  ///< of direct: messages under way at once; 0: all
};

/// The collectives that ASTRA-sim simulates.
enum class Simulated : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all };
inline constexpr std::size_t kSimulated = 4;

struct AstraSystem {
    std::string path;
    std::array<std::vector<DimensionAlgorithm>, kSimulated> algorithms;
    /// Traces that spell out one collective, by kind or (first) by the workload's node; empty: none.
    std::array<std::string, kSimulated> custom;
    std::map<std::uint64_t, std::string> custom_by_node;
    bool local_bandwidth_aware = false;  ///< collective-optimization; else "baseline"
    std::uint32_t active_chunks = 1;
    std::uint32_t dataset_splits = 1;
    double endpoint_delay = 10;  ///< ns
    double local_mem_bw = 0;     ///< 1e9 bytes per second; 0: a fixed 10 ns per access
    double peak_perf = 0;        ///< 1e12 operations per second
    bool roofline = false;
    bool replay_only = false;
};

/// Relative paths inside (custom collectives) are tried as they are, then from the file's folder.
AstraSystem read_system(const std::string& path, ImportReport& report);

enum class NetworkKind : std::uint8_t { ring, fully_connected, switch_ };

struct NetworkDimension {
    NetworkKind kind = NetworkKind::ring;
    std::uint32_t npus = 2;
    double bandwidth = 0;  ///< 2^30 bytes per second
    double latency = 0;    ///< ns
};

std::vector<NetworkDimension> read_network(const std::string& path, ImportReport& report);

/// {"logical-dims": ["8", "2"]}: NPUs per dimension, innermost first.
std::vector<std::uint32_t> read_logical_dims(const std::string& path, ImportReport& report);

/// {"1": [0, 1], "2": [2, 3]}. A file whose name contains "empty" stands for none and is not read.
std::vector<Group> read_comm_groups(const std::string& path, ImportReport& report);

struct RemoteMemory {
    enum class Kind : std::uint8_t { none, per_node, per_npu, pool };
    Kind kind = Kind::none;
    std::uint32_t nodes = 0;
    std::uint32_t npus_per_node = 0;
    double latency = 0;    ///< ns
    double bandwidth = 0;  ///< 1e9 bytes per second
};

RemoteMemory read_remote_memory(const std::string& path, ImportReport& report);

}  // namespace sluice::chakra
