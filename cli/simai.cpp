// SPDX-License-Identifier: Apache-2.0
/// `sluice simai`: SimAI's simulator (-w -n -c) on our engines, and its analytical program.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/build_experiment.h"
#include "cli/commands.h"
#include "cli/hpcc_config.h"
#include "cli/hpcc_network.h"
#include "cli/import_notes.h"
#include "cli/mode_run.h"
#include "cli/run_experiment.h"
#include "cli/simai_options.h"
#include "core/error.h"
#include "core/topology/topology_io.h"
#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/end_to_end.h"
#include "workloads/aicb/simai_analytical.h"
#include "workloads/job/workload.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// What SimAI's programs call their runs in the second column.
constexpr const char* kSimulatedRun = "test1";
constexpr const char* kAnalyticalRun = "Analytical_test";
constexpr const char* kSimulatedFile = "ncclFlowModel_EndToEnd.csv";

/// SimAI waits so long before each message where AS_SEND_LAT does not say it. Once per collective
/// here: a ring would count it in every step.
constexpr Tick kCollectiveOverhead = 6 * kMicrosecond;

/// SimAI reads GLOBAL_T and takes it as 1: windows are those of the longest round trip, so that they
/// never limit a flow inside a server.
void force_global_window(HpccConfig& config, ImportReport& report) {
    if (!config.global_t) {
        report.skipped(config.path, "GLOBAL_T 0: SimAI takes it as 1 whatever it says, so do we");
    }
    config.global_t = true;
}

/// SimAI's NVSwitches mark nothing. Marking goes by port rate: where no other switch has a port of
/// an NVSwitch's rate, that rate never marks.
void silence_nvswitches(const Topology& topology, EcnConfig& ecn) {
    constexpr Bytes kOutOfReach{std::int64_t{1} << 50};
    std::set<std::int64_t> inside;
    std::set<std::int64_t> outside;
    for (PortId port = 0; port < topology.port_count(); ++port) {
        const NodeKind kind = topology.kind(topology.node_of(port));
        if (kind == NodeKind::host) continue;
        (kind == NodeKind::nvswitch ? inside : outside).insert(topology.rate(port).bits_per_second);
    }
    for (const std::int64_t rate : inside) {
        if (outside.count(rate) > 0) continue;
        ecn.points.erase(std::remove_if(ecn.points.begin(), ecn.points.end(),
                                        [&](const EcnPoint& point) {
                                            return point.rate.bits_per_second == rate;
                                        }),
                         ecn.points.end());
        EcnPoint point;
        point.rate = {rate};
        point.kmin = kOutOfReach;
        point.kmax = kOutOfReach;
        point.pmax = 0;
        ecn.points.push_back(point);
    }
    std::sort(ecn.points.begin(), ecn.points.end(),
              [](const EcnPoint& a, const EcnPoint& b) { return a.rate < b.rate; });
}

/// Operations of a graph that --check builds.
constexpr double kMostChecked = 2e6;

void require(const std::string& value, const char* option, const char* what) {
    if (value.empty()) {
        throw ConfigError(fmt::format("simai: {} FILE is missing: {}", option, what));
    }
}

/// What a run starts from; with --check the parts that could be read.
struct Inputs {
    std::optional<AicbWorkload> workload;
    std::optional<Topology> topology;
    std::optional<HpccConfig> config;
    std::optional<AicbLayout> layout;
    NetworkConfig network;
};

class Simulation {
  public:
    Simulation(const SimaiOptions& options, ImportReport& report)
        : options_(options), report_(report) {
        require(options.workload, "-w", "the workload, e.g. of AICB");
        require(options.topology, "-n", "the topology, e.g. of sluice topo --format simai");
        require(options.config, "-c", "SimAI.conf or another HPCC config");
        mode_ = parse_mode(options.mode, "simai --mode");
        environment_ = simai_environment([](const char* name) { return std::getenv(name); });
    }

    /// Every part that can be read is; the others become misfits.
    void check() {
        attempt([&] { read_workload(); });
        attempt([&] { read_network(); });
        if (!inputs_.workload || !inputs_.topology) return;
        attempt([&] {
            make_layout();
            const AicbGraphConfig config = graph_config();
            const double operations = count_operations(*inputs_.workload, *inputs_.layout, config);
            report_.read(options_.workload, fmt::format("about {:.3g} operations", operations));
            // Building what is large tells no more, and takes long.
            if (operations > kMostChecked && operations <= config.most_operations) return;
            build_aicb_graph(*inputs_.workload, *inputs_.layout, config, report_).graph.finish();
        });
    }

    int run() {
        require_offered(mode_, "simai --mode " + options_.mode);
        read_workload();
        read_network();
        make_layout();
        tell();
        const AicbWorkload& workload = *inputs_.workload;
        const AicbLayout& layout = *inputs_.layout;
        AicbGraph graph = build_aicb_graph(workload, layout, graph_config(), report_);
        graph.graph.finish();
        const BuiltExperiment built = build(std::move(graph.graph));
        RunRequest request;
        request.mode = mode_;
        request.name = "simai";
        request.config_json = hpcc_config_json(*inputs_.config);
        request.directory = options_.out;
        request.quiet = options_.quiet;
        request.add_results = [&](RunWriter& writer) {
            const JobApplication& job = *built.jobs.front().application;
            if (!job.complete()) return;
            const AicbEndToEnd times = measure_aicb(workload, graph.records, job);
            writer.add_file(kSimulatedFile)
                << format_end_to_end(workload, layout, times, EndToEndStyle::simulated,
                                     kSimulatedRun, fs::path(options_.out).filename().string());
        };
        return run_experiment(built, request);
    }

  private:
    template <typename Action>
    void attempt(const Action& action) {
        try {
            action();
        } catch (const ConfigError& error) {
            report_.misfit_line(error.what(), "simai");
        }
    }

    void read_workload() {
        if (fs::path(options_.workload).extension() == ".csv") {
            throw ConfigError(options_.workload +
                              ": is AICB's physical workload: a scenario runs "
                              "it, workload type \"aicb\"; simai takes SimAI's .txt");
        }
        inputs_.workload = read_aicb(options_.workload, report_);
    }

    void read_network() {
        const Topology topology = read_topology(options_.topology, &report_, DelayReading::ns3);
        inputs_.config = read_hpcc_config(options_.config);
        HpccConfig& config = *inputs_.config;
        force_global_window(config, report_);
        for (const std::string& note : config.notes) report_.skipped_line(note, config.path);
        inputs_.topology = with_ns3_links(topology, config.error_rate);
        std::vector<std::string> notes;
        const auto seed = static_cast<std::uint64_t>(config.random_seed);
        inputs_.network = hpcc_network(config, *inputs_.topology,
                                       options_.seed != 0 ? options_.seed : seed, notes);
        silence_nvswitches(*inputs_.topology, inputs_.network.ecn);
        // ns-3's order of ties and its nanoseconds exist packet by packet only.
        if (mode_ != Mode::packet) inputs_.network.arithmetic = Arithmetic::exact;
        for (const std::string& note : notes) report_.skipped_line(note, config.path);
        report_.read(config.path, fmt::format("{} keys", config.lines.size()));
    }

    void make_layout() {
        inputs_.layout.emplace(
            *inputs_.workload, static_cast<RankId>(inputs_.topology->host_count()),
            inputs_.topology->gpus_per_server, static_cast<RankId>(options_.gpus), report_);
    }

    AicbGraphConfig graph_config() const {
        AicbGraphConfig config;
        config.compute_scale = options_.compute_scale;
        config.micro_batches = options_.micro_batches;
        config.schedule = find_schedule(options_.schedule);
        config.nvls = environment_.nvls;
        config.nvls_tree = environment_.nvls_tree;
        config.pxn = environment_.pxn;
        CollectiveOptions& collectives = config.collectives;
        collectives.computed_in_server = false;
        const std::uint32_t per_server = inputs_.topology->gpus_per_server;
        collectives.server = [per_server](RankId rank) { return rank / per_server; };
        collectives.rail = [per_server](RankId rank) { return rank % per_server; };
        if (environment_.send_latency_given) {
            collectives.step_overhead = environment_.send_latency;
        } else {
            collectives.overhead = kCollectiveOverhead;
        }
        return config;
    }

    /// What a user would miss otherwise: what does not fit, and what of the workload is not run.
    void tell() const {
        if (options_.quiet) return;
        constexpr std::size_t kMostLines = 10;
        std::vector<std::string> lines = options_.notes;
        if (!environment_.doubt.empty()) lines.push_back(environment_.doubt);
        for (const ImportNote& note : report_.notes()) {
            const bool workload = note.where.rfind(options_.workload, 0) == 0;
            if (note.kind == ImportNote::Kind::misfit ||
                (note.kind == ImportNote::Kind::skipped && workload)) {
                lines.push_back(note.where + ": " + note.text);
            }
        }
        for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
            fmt::print(stderr, "sluice: {}\n", lines[i]);
        }
        if (lines.size() > kMostLines) {
            fmt::print(stderr, "sluice: {} more notes: simai --check lists them\n",
                       lines.size() - kMostLines);
        }
    }

    BuiltExperiment build(JobGraph graph) const {
        Experiment experiment;
        experiment.name = "simai";
        experiment.topology = *inputs_.topology;
        experiment.network = inputs_.network;
        const HpccConfig& config = *inputs_.config;
        experiment.link_events = hpcc_link_events(config, experiment.topology);
        constexpr double kLongest = 8'000'000;  // SimAI.conf says 4e13 s: never
        if (config.given("SIMULATOR_STOP_TIME") && config.stop_s < kLongest) {
            experiment.stop = static_cast<Tick>(config.stop_s * static_cast<double>(kSecond));
        }
        const RankId ranks = graph.rank_count();
        const std::vector<NodeId>& hosts = experiment.topology.hosts();
        Workload made = make_workload(
            std::move(graph), {hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(ranks)});
        std::vector<WorkloadPart> parts(1);
        parts.front().flows = std::move(made.flows);
        parts.front().application = std::move(made.application);
        parts.front().name = "simai";
        parts.front().description = fmt::format("{} on {} GPUs", options_.workload, ranks);
        return build_experiment(std::move(experiment), std::move(parts), options_.workload);
    }

    const SimaiOptions& options_;
    ImportReport& report_;
    Mode mode_ = Mode::packet;
    SimaiEnvironment environment_;
    Inputs inputs_;
};

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
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) throw ConfigError(path.string() + ": cannot be written");
}

int run_analytical(const SimaiOptions& options, ImportReport& report) {
    require(options.workload, "-w", "the workload, e.g. of AICB");
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
    const fs::path path =
        (placed ? fs::path() : fs::path(options.result_folder)) / (name + "EndToEnd.csv");
    write_result(path, format_end_to_end(workload, layout, times, EndToEndStyle::analytical,
                                         kAnalyticalRun, fs::path(name).filename().string()));
    if (!options.quiet) {
        constexpr double kNanosecondsPerMillisecond = 1e6;
        fmt::print(
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

int check_inputs(const SimaiOptions& options, ImportReport& report) {
    for (const std::string& note : options.notes) report.skipped("simai", note);
    if (options.analytical) {
        try {
            run_analytical(options, report);
        } catch (const ConfigError& error) {
            report.misfit_line(error.what(), "simai");
        }
    } else {
        Simulation(options, report).check();
    }
    return print_check(report);
}

int simai_command(const CLI::App& app) {
    const std::vector<std::string> words = app.remaining();
    if (std::find(words.begin(), words.end(), "--help") != words.end() ||
        std::find(words.begin(), words.end(), "-h") != words.end()) {
        fmt::print("{}", app.help());
        return kExitDone;
    }
    const SimaiOptions options = parse_simai_options(words);
    ImportReport report;
    if (options.check) return check_inputs(options, report);
    if (options.analytical) return run_analytical(options, report);
    return Simulation(options, report).run();
}

}  // namespace

Command add_simai_command(CLI::App& program) {
    CLI::App* app = program.add_subcommand(
        "simai", "Run SimAI's input files, by SimAI's options: -w workload -n topology -c conf");
    app->prefix_command();
    app->footer(simai_options_help());
    return {app, [app] { return simai_command(*app); }};
}

}  // namespace sluice
