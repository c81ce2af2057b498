// SPDX-License-Identifier: Apache-2.0
/// The options of SimAI's programs, under their own names ("-g_p_s" is one option), and ours beside
/// them. SimAI_simulator's and SimAI_analytical's in one list: `--analytical` chooses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"

namespace sluice {

/// SimAI_simulator up to 1.6, whose figures are published, and 1.7.
enum class SimaiVersion : std::uint8_t { documented, v1_7 };

struct SimaiOptions {
    bool analytical = false;
    bool check = false;
    bool quiet = false;
    std::string workload;
    std::string topology;
    std::string config;
    std::string mode = "packet";
    std::string out;  ///< empty: runs/simai, or with --analytical what result_folder says
    std::string schedule = "1f1b";
    bool pipeline_traffic = false;  ///< pp > 1 is simulated; else, as SimAI, a formula
    SimaiVersion version = SimaiVersion::documented;
    std::uint64_t gpus = 0;
    std::uint64_t micro_batches = 0;
    std::uint64_t rows = 0;        ///< layers that are read; 0: all
    std::uint64_t operations = 0;  ///< that are built at most; 0: the default
    double compute_scale = 1;
    std::uint64_t seed = 0;

    std::uint32_t gpus_per_server = 8;
    std::string result;
    std::string result_folder;  ///< empty: out, else results
    std::string bus_bandwidths;
    std::string ratios;
    double nvlink = 0;
    double nic = 0;
    double nics_per_server = 0;
    std::string nic_type = "cx7";
    std::string gpu_type;
    double dp_overlap = 0;
    double tp_overlap = 0;
    double ep_overlap = 0;
    double pp_overlap = 1;
    std::vector<std::string> notes;  ///< options that were taken and mean nothing here
};

/// ConfigError for an unknown option, a missing or a wrong value.
SimaiOptions parse_simai_options(const std::vector<std::string>& words);
/// The list of options, for --help.
std::string simai_options_help();

/// What the environment asks for: AS_SEND_LAT, AS_NVLS_ENABLE, AS_PXN_ENABLE (1: on).
struct SimaiEnvironment {
    /// Before a message between servers, inside one, and to or from an NVSwitch.
    Tick send_latency = 0;
    Tick server_send_latency = 0;
    Tick nvswitch_send_latency = 0;
    std::vector<std::string> doubts;  ///< what is read as it stands and was hardly meant so
    bool nvls = false;
    bool pxn = false;
};

/// AS_SEND_LAT is microseconds up to 1.6 (entry.h) and nanoseconds in 1.7, or a time with its unit.
/// Not set: 6 ms up to 1.6; 1.7: its table's Simple row. ConfigError naming the variable. `get` is
/// getenv().
SimaiEnvironment simai_environment(SimaiVersion version, char* (*get)(const char*));

}  // namespace sluice
