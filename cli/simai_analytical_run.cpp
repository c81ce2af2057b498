// SPDX-License-Identifier: Apache-2.0
#include "cli/simai_analytical_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "workloads/aicb/end_to_end.h"
#include "workloads/aicb/simai_analytical.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// What SimAI's program calls its runs in the second column.
constexpr const char* kAnalyticalRun = "Analytical_test";

RatioTable read_ratio(const std::string& folder, const char* name) {
    TokenReader reader = TokenReader::open((fs::path(folder) / name).string());
    return RatioTable::parse(reader);
}

SimaiAnalytical analytical_parameters(const SimaiOptions& options, ImportReport& report) {
    SimaiAnalytical parameters;
    parameters.gpus_per_server = options.gpus_per_server;
    parameters.nics_per_server =
        options.nics_per_server > 0 ? options.nics_per_server : options.gpus_per_server;
    parameters.dp_overlap = options.dp_overlap;
    parameters.tp_overlap = options.tp_overlap;
    parameters.ep_overlap = options.ep_overlap;
    parameters.pp_overlap = options.pp_overlap;
    if (!options.bus_bandwidths.empty()) {
        TokenReader reader = TokenReader::open(options.bus_bandwidths);
        parameters.bus = parse_bus_bandwidths(reader, report);
        return parameters;
    }
    if (options.nvlink > 0) {
        parameters.nvlink = options.nvlink;
    } else if (!options.gpu_type.empty()) {
        parameters.nvlink = simai_nvlink_bandwidth(options.gpu_type);
    } else {
        throw ConfigError("simai --analytical: needs -nv GB/s, -g_type TYPE or -busbw FILE");
    }
    parameters.nic = options.nic > 0 ? options.nic : simai_nic_bandwidth(options.nic_type);
    if (options.ratios.empty()) {
        report.skipped("simai", "no --ratio DIR: bus bandwidths are reached at every size");
    } else {
        parameters.nvlink_ratio = read_ratio(options.ratios, "nvlink_ratio.csv");
        parameters.nic_ratio = read_ratio(options.ratios, "nic_ratio.csv");
        parameters.all_to_all_ratio = read_ratio(options.ratios, "ata_ratio.csv");
        report.read(options.ratios, "three tables of ratios");
    }
    return parameters;
}

/// SimAI_analytical's name of a result.
std::string result_name(const SimaiOptions& options, const AicbWorkload& workload,
                        const AicbLayout& layout, const SimaiAnalytical& parameters) {
    if (!options.result.empty() && options.result.back() != '/') return options.result;
    std::string model = fs::path(options.workload).filename().string();
    const std::size_t at = model.find("-world_size");
    model = at != std::string::npos ? model.substr(0, at) : fs::path(model).stem().string();
    return options.result + fmt::format("{}-tp{}-pp{}-dp{}-ga{}-ep{}-NVL{}-{:.1f}G-DP{:g}-", model,
                                        layout.tp(), layout.pp(), layout.dp(),
                                        std::max<std::int64_t>(1, workload.header.ga), layout.ep(),
                                        parameters.gpus_per_server, parameters.nic * 8,
                                        parameters.dp_overlap);
}

void write_result(const fs::path& path, const std::string& text) {
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    write_output(path.string(), text);
}

}  // namespace

int run_analytical(const SimaiOptions& options, ImportReport& report) {
    const AicbWorkload workload = read_aicb(options.workload, report);
    const SimaiAnalytical parameters = analytical_parameters(options, report);
    const auto gpus = static_cast<RankId>(options.gpus);
    const RankId hosts = gpus > 0 ? gpus : static_cast<RankId>(workload.header.all_gpus);
    if (hosts == 0) {
        throw ConfigError(workload.file, workload.header_line,
                          "names no all_gpus: say how many GPUs there are, -g N");
    }
    const AicbLayout layout(workload, hosts, options.gpus_per_server, gpus, report);
    const AicbEndToEnd times = simai_end_to_end(parameters, workload, layout);
    if (options.check) return kExitDone;
    const std::string name = result_name(options, workload, layout, parameters);
    const bool placed = name.find('/') != std::string::npos;
    const std::string& given = options.result_folder.empty() ? options.out : options.result_folder;
    const fs::path folder = given.empty() ? "results" : given;
    const fs::path path = (placed ? fs::path() : folder) / (name + "EndToEnd.csv");
    write_result(path, format_end_to_end(workload, layout, times, EndToEndStyle::analytical,
                                         kAnalyticalRun, fs::path(name).filename().string()));
    if (!options.quiet) {
        constexpr double kNanosecondsPerMillisecond = 1e6;
        print(
            "{} layers on {} GPUs: {:.3f} ms, of it compute {:.3f}, exposed {:.3f}, bubble "
            "{:.3f}, PP {:.3f}\nResults in {}\n",
            workload.layers.size(), layout.world(), times.totals.total / kNanosecondsPerMillisecond,
            times.totals.compute / kNanosecondsPerMillisecond,
            times.totals.exposed / kNanosecondsPerMillisecond,
            times.totals.bubble / kNanosecondsPerMillisecond,
            times.totals.pp / kNanosecondsPerMillisecond, path.string());
    }
    return kExitDone;
}

}  // namespace sluice
