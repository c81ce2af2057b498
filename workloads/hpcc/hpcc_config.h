// SPDX-License-Identifier: Apache-2.0
/// The keys of an HPCC ns-3 config.txt (and of its forks), with that simulator's defaults.
/// The file is a run of whitespace-separated keys and values; text in {braces} is a comment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/units.h"

namespace sluice {

struct HpccConfig {
    /// n pairs of a port rate and a value (KB = 1000 bytes, or a probability).
    using RateMap = std::vector<std::pair<Rate, double>>;
    /// t us after 2 s the link a-b goes down; t = 0: never.
    struct LinkDown {
        std::int64_t after_us = 0;
        std::int64_t a = 0;
        std::int64_t b = 0;
    };

    bool enable_qcn = true;
    bool enable_pfc = true;
    std::int64_t payload = 1000;
    std::string topology_file;
    std::string flow_file;
    std::string trace_file;
    std::string trace_output_file;
    std::string fct_output_file = "fct.txt";
    std::string pfc_output_file = "pfc.txt";
    std::string qlen_file;
    double stop_s = 3.01;
    std::int64_t cc_mode = 1;
    double alpha_resume_us = 55;
    double rate_decrease_us = 4;
    double rp_timer_us = 0;
    bool clamp_target_rate = false;
    double ewma_gain = 0;  ///< ns-3 writes 1 / 16, an integer division
    std::int64_t fast_recovery_times = 5;
    Rate rate_ai;
    Rate rate_hai;
    Rate min_rate = megabits_per_second(100);
    Rate dctcp_rate_ai = megabits_per_second(1000);
    double error_rate = 0;
    std::int64_t chunk = 0;
    std::int64_t ack_interval = 0;
    bool back_to_zero = false;
    bool has_window = true;
    bool global_t = true;
    bool variable_window = false;
    bool fast_react = true;
    double u_target = 0.95;
    std::int64_t mi_thresh = 5;
    std::int64_t int_multi = 1;
    bool multi_rate = true;
    bool sample_feedback = false;
    bool rate_bound = true;
    bool ack_high_prio = false;
    bool enable_trace = true;
    LinkDown link_down;
    RateMap kmax;
    RateMap kmin;
    RateMap pmax;
    std::int64_t buffer_mib = 16;
    std::int64_t qlen_from_ns = 2'000'000'000;
    std::int64_t qlen_to_ns = 2'100'000'000;
    std::int64_t random_seed = 1;

    std::string path;                  ///< of the file itself
    std::map<std::string, int> lines;  ///< line of each key that the file gives
    /// Keys that were read, mean something, and are not modelled; and text that is no key.
    std::vector<std::string> notes;

    bool given(const std::string& key) const { return lines.count(key) > 0; }
    /// "file:line: KEY: message" (ConfigError).
    [[noreturn]] void fail(const std::string& key, const std::string& message) const;
};

/// Throws ConfigError with file and line.
HpccConfig read_hpcc_config(const std::string& path);
/// The same from text; `path` is for messages and relative paths.
HpccConfig parse_hpcc_config(const std::string& path, std::string text);

/// Every key in effect as a JSON object.
std::string hpcc_config_json(const HpccConfig& config);

}  // namespace sluice
