// SPDX-License-Identifier: Apache-2.0
#include "cli/simai_options.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

using Take = std::function<void(SimaiOptions&, const std::string& value)>;

struct Option {
    std::vector<std::string> names;
    const char* value = nullptr;  ///< what it is called; null: a flag
    const char* help = "";
    Take take;
    bool value_optional = false;  ///< "-v" and "-v 1"
};

Take text(std::string SimaiOptions::*member) {
    return [member](SimaiOptions& options, const std::string& value) { options.*member = value; };
}

Take flag(bool SimaiOptions::*member) {
    return [member](SimaiOptions& options, const std::string&) { options.*member = true; };
}

Take real(double SimaiOptions::*member, const char* name, double lowest, double highest) {
    return [=](SimaiOptions& options, const std::string& value) {
        options.*member = parse_real(value, {"simai", 0, name}, lowest, highest);
    };
}

template <typename Integer>
Take integer(Integer SimaiOptions::*member, const char* name, std::int64_t lowest,
             std::int64_t highest) {
    return [=](SimaiOptions& options, const std::string& value) {
        options.*member =
            static_cast<Integer>(parse_integer(value, {"simai", 0, name}, lowest, highest));
    };
}

Take note(const char* message) {
    return [message](SimaiOptions& options, const std::string&) {
        options.notes.emplace_back(message);
    };
}

void version(SimaiOptions& options, const std::string& value) {
    if (value != "1.6" && value != "1.7") {
        throw ConfigError("simai: --simai-version \"" + value + "\": allowed are 1.6, 1.7");
    }
    options.version = value == "1.7" ? SimaiVersion::v1_7 : SimaiVersion::documented;
}

void pipeline(SimaiOptions& options, const std::string& value) {
    if (value != "formula" && value != "traffic") {
        throw ConfigError("simai: --pipeline \"" + value + "\": allowed are formula, traffic");
    }
    options.pipeline_traffic = value == "traffic";
}

const std::vector<Option>& options_list() {
    using O = SimaiOptions;
    constexpr double kFast = 1e6;
    constexpr std::int64_t kMany = 16'777'216;
    static const std::vector<Option> kOptions = {
        {{"-w", "--workload"}, "FILE", "The workload .txt", text(&O::workload)},
        {{"-n", "--network-topo"}, "FILE", "The topology file", text(&O::topology)},
        {{"-c", "--network-conf"}, "FILE", "SimAI.conf", text(&O::config)},
        {{"-t", "--thread"},
         "N",
         "Accepted, without effect",
         note("-t: threads change neither results nor speed")},
        {{"--mode"}, "MODE", "packet (default), hybrid, flow", text(&O::mode)},
        {{"-o", "--out"}, "DIR", "Output folder (default: runs/simai)", text(&O::out)},
        {{"-g", "--gpus"},
         "N",
         "Number of GPUs, in place of the workload's all_gpus",
         integer(&O::gpus, "-g", 1, kMany)},
        {{"--micro-batches"},
         "N",
         "Run only N of the workload's micro-batches",
         integer(&O::micro_batches, "--micro-batches", 1, 1'000'000'000)},
        {{"--rows"},
         "N",
         "Run only the first N layers of the workload",
         integer(&O::rows, "--rows", 1, 1'000'000'000)},
        {{"--operations"},
         "N",
         "Largest number of operations, 150 bytes each (default: 20,000,000)",
         integer(&O::operations, "--operations", 1, 4'000'000'000)},
        {{"--simai-version"},
         "NAME",
         "SimAI version to reproduce: 1.6 (default; as earlier versions) or 1.7",
         version},
        {{"--pipeline"},
         "NAME",
         "With pp > 1: formula (default: a bubble and no traffic, as in SimAI) or traffic",
         pipeline},
        {{"--schedule"},
         "NAME",
         "With --pipeline traffic: schedule 1f1b (default), gpipe or zb-h1",
         text(&O::schedule)},
        {{"--compute-scale"},
         "X",
         "Factor of all compute times",
         real(&O::compute_scale, "--compute-scale", 0, kFast)},
        {{"--seed"},
         "N",
         "Seed of the network's random numbers",
         integer(&O::seed, "--seed", 1, 4'294'967'295)},
        {{"--check"},
         nullptr,
         "Report what was read, what was skipped and what does not fit; run nothing",
         flag(&O::check)},
        {{"--quiet"}, nullptr, "Print nothing but errors", flag(&O::quiet)},
        {{"--analytical"},
         nullptr,
         "SimAI_analytical: formulas in place of a network",
         flag(&O::analytical)},
        {{"-g_p_s", "--gpus-per-server"},
         "N",
         "GPUs per server (default: 8)",
         integer(&O::gpus_per_server, "-g_p_s", 1, kMany)},
        {{"-r", "--result"},
         "PREFIX",
         "Prefix of the result's name (default: from the workload's name)",
         text(&O::result)},
        {{"-r_f", "--result_folder"},
         "DIR",
         "Folder of the result (default: --out, else results)",
         text(&O::result_folder)},
        {{"-nv", "--nvlink"},
         "GB/s",
         "Bus bandwidth of a GPU's NVLinks",
         real(&O::nvlink, "-nv", 1e-3, kFast)},
        {{"-g_type", "--gpu_type"},
         "TYPE",
         "A100, A800, H100, H800, H20: in place of -nv",
         text(&O::gpu_type)},
        {{"-nic", "--nic_busbw"},
         "GB/s",
         "Bus bandwidth of a NIC",
         real(&O::nic, "-nic", 1e-3, kFast)},
        {{"-nic_t", "--nic_type"},
         "TYPE",
         "cx6, cx7 (default), bf3: in place of -nic",
         text(&O::nic_type)},
        {{"-n_p_s", "--nic_per_server"},
         "N",
         "NICs of a server (default: one per GPU)",
         real(&O::nics_per_server, "-n_p_s", 1e-3, kFast)},
        {{"-busbw", "--bus-bandwidth"},
         "FILE",
         "A busbw.yaml, in place of these bandwidths",
         text(&O::bus_bandwidths)},
        {{"--ratio"},
         "DIR",
         "Folder with nvlink_ratio.csv, nic_ratio.csv and ata_ratio.csv",
         text(&O::ratios)},
        {{"-dp_o", "--dp_overlap", "--dp-overlap-ratio"},
         "X",
         "Share of DP communication that overlaps with computation (default: 0)",
         real(&O::dp_overlap, "-dp_o", 0, 1)},
        {{"-tp_o", "--tp_overlap", "--tp-overlap-ratio"},
         "X",
         "Share of TP communication that overlaps with computation (default: 0)",
         real(&O::tp_overlap, "-tp_o", 0, 1)},
        {{"-ep_o", "--ep_overlap", "--ep-overlap-ratio"},
         "X",
         "Share of EP communication that overlaps with computation (default: 0)",
         real(&O::ep_overlap, "-ep_o", 0, 1)},
        {{"-pp_o", "--pp_overlap", "--pp-overlap-ratio"},
         "X",
         "Share of PP communication that overlaps with computation (default: 1)",
         real(&O::pp_overlap, "-pp_o", 0, 1)},
        {{"-l"}, "LANG", "Accepted, without effect", note("-l: there is one language")},
        {{"-v", "--visual"},
         "0|1",
         "Accepted, without effect",
         note("-v: no chart.html is written"),
         true},
    };
    return kOptions;
}

const Option& find_option(const std::string& name) {
    for (const Option& option : options_list()) {
        if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
            return option;
        }
    }
    throw ConfigError("simai: unknown option \"" + name + "\" (sluice simai --help lists them)");
}

}  // namespace

SimaiOptions parse_simai_options(const std::vector<std::string>& words) {
    SimaiOptions options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        // "--out=DIR" as well as "--out DIR".
        const std::size_t equals =
            words[i].rfind("--", 0) == 0 ? words[i].find('=') : std::string::npos;
        const std::string name = words[i].substr(0, equals);
        const Option& option = find_option(name);
        std::string value;
        const bool inline_value = equals != std::string::npos;
        if (option.value == nullptr) {
            if (inline_value) throw ConfigError("simai: " + name + " takes no value");
        } else if (inline_value) {
            value = words[i].substr(equals + 1);
        } else if (option.value_optional) {
            if (i + 1 < words.size() && (words[i + 1] == "0" || words[i + 1] == "1")) ++i;
        } else if (i + 1 < words.size()) {
            value = words[++i];
        } else {
            throw ConfigError("simai: " + name + " needs a value, " + option.value);
        }
        option.take(options, value);
    }
    return options;
}

std::string simai_options_help() {
    std::string text = "Options of SimAI and of Sluice:\n";
    for (const Option& option : options_list()) {
        std::string names;
        for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
        if (option.value != nullptr) names += std::string(" ") + option.value;
        text += fmt::format("  {}\n      {}\n", names, option.help);
    }
    return text +
           "Environment: AS_SEND_LAT (before every message: us, in 1.7 ns, or with a unit), "
           "AS_NVLS_ENABLE, AS_PXN_ENABLE (1: on)\n";
}

namespace {

constexpr const char* kLatency = "AS_SEND_LAT";

/// entry.h of 1.7: NCCL's base and hardware latencies of ring (NVLink, network) and NVLS (network,
/// since an NVSwitch is of no server by its number), Simple protocol.
constexpr Tick kRingInServer = 11'800 * kNanosecond;
constexpr Tick kRingAcross = 22'400 * kNanosecond;
constexpr Tick kNvls = 18'000 * kNanosecond;
/// entry.h up to 1.6: 6000, multiplied by 1000 at a resolution of nanoseconds.
constexpr Tick kUnset = 6'000 * kMicrosecond;

void set_latency(SimaiEnvironment& environment, Tick latency) {
    environment.send_latency = latency;
    environment.server_send_latency = latency;
    environment.nvswitch_send_latency = latency;
}

void read_latency(SimaiEnvironment& environment, SimaiVersion version, const std::string& value) {
    const bool documented = version == SimaiVersion::documented;
    const bool bare = value.find_first_not_of("0123456789.") == std::string::npos;
    const Tick latency =
        parse_time(bare ? value + (documented ? "us" : "ns") : value, {"environment", 0, kLatency});
    set_latency(environment, latency);
    constexpr Tick kMostLikely = 500 * kMicrosecond;
    constexpr Tick kLeastLikely = 100 * kNanosecond;
    if (bare && documented && latency >= kMostLikely) {
        environment.doubts.push_back(
            fmt::format("AS_SEND_LAT={0} is {0} us before every message, as SimAI takes it up to "
                        "1.6; SimAI 1.7 means ns: give --simai-version 1.7, or {0}ns",
                        value));
    }
    if (bare && !documented && latency > 0 && latency < kLeastLikely) {
        environment.doubts.push_back(
            fmt::format("AS_SEND_LAT={0} is {0} ns, as SimAI 1.7 takes it; up to 1.6 it is "
                        "microseconds: omit --simai-version, or give {0}us",
                        value));
    }
}

}  // namespace

SimaiEnvironment simai_environment(SimaiVersion version, char* (*get)(const char*)) {
    SimaiEnvironment environment;
    const auto is_on = [&](const char* name) {
        const char* value = get(name);
        return value != nullptr &&
               parse_integer(value, {"environment", 0, name}, 0, 1'000'000) == 1;
    };
    environment.nvls = is_on("AS_NVLS_ENABLE");
    environment.pxn = is_on("AS_PXN_ENABLE");
    if (is_on("AS_NVLSTREE_ENABLE")) {
        environment.doubts.emplace_back(
            "AS_NVLSTREE_ENABLE: ignored, as SimAI's simulator never chooses an NVLS tree");
    }
    if (const char* value = get(kLatency)) {
        read_latency(environment, version, value);
    } else if (version == SimaiVersion::documented) {
        set_latency(environment, kUnset);
        environment.doubts.emplace_back(
            "AS_SEND_LAT is not set: every message waits 6 ms, as in SimAI up to 1.6. Its "
            "documented "
            "figures are with AS_SEND_LAT=2 (us) for rings and 12 for NVLS");
    } else {
        environment.send_latency = kRingAcross;
        environment.server_send_latency = kRingInServer;
        environment.nvswitch_send_latency = kNvls;
    }
    return environment;
}

}  // namespace sluice
