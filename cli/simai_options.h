// SPDX-License-Identifier: Apache-2.0
/// The options of SimAI's programs, under their own names ("-g_p_s" is one option), and ours beside
/// them. SimAI_simulator's and SimAI_analytical's in one list: `--analytical` chooses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"

namespace sluice {

struct SimaiOptions {
    bool analytical = false;
    bool check = false;
    bool quiet = false;
    std::string workload;
    std::string topology;
    std::string config;
    std::string mode = "packet";
    std::string out = "runs/simai";
    std::string schedule = "1f1b";
    std::uint64_t gpus = 0;
    std::uint64_t micro_batches = 0;
    double compute_scale = 1;
    std::uint64_t seed = 0;

    std::uint32_t gpus_per_server = 8;
    std::string result;
    std::string result_folder = "results";
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

/// What the environment asks for: AS_SEND_LAT (nanoseconds, or a time with its unit),
/// AS_NVLS_ENABLE, AS_NVLSTREE_ENABLE, AS_PXN_ENABLE (1: on).
struct SimaiEnvironment {
    bool send_latency_given = false;
    Tick send_latency = 0;
    std::string doubt;  ///< of what is read as it stands and was hardly meant so; empty: none
    bool nvls = false;
    bool nvls_tree = false;
    bool pxn = false;
};

/// ConfigError naming the variable. `get` is getenv().
SimaiEnvironment simai_environment(char* (*get)(const char*));

}  // namespace sluice
