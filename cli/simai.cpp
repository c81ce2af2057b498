// SPDX-License-Identifier: Apache-2.0
/// `sluice simai`: SimAI's simulator (-w -n -c) on our engines, and its analytical program.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "cli/run_report.h"
#include "cli/simai_analytical_run.h"
#include "cli/simai_network.h"
#include "cli/simai_options.h"
#include "core/error.h"
#include "core/job/workload.h"
#include "core/topology/topology_io.h"
#include "core/world/lookahead.h"
#include "experiment/build_experiment.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/mode_run.h"
#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/end_to_end.h"
#include "workloads/aicb/simai_workload.h"
#include "workloads/hpcc/hpcc_config.h"
#include "workloads/hpcc/hpcc_network.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// What SimAI's program calls its runs in the second column.
constexpr const char* kSimulatedRun = "test1";
constexpr const char* kSimulatedFile = "ncclFlowModel_EndToEnd.csv";

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
    AicbHeader header;  ///< as the file has it
    RankId gpus = 0;    ///< of the topology
    NetworkConfig network;
};

class Simulation {
  public:
    Simulation(const SimaiOptions& options, ImportReport& report)
        : options_(options), report_(report) {
        require(options.workload, "-w", "the workload, e.g. of AICB");
        if (options.topology.empty() &&
            (options.nvlink > 0 || options.nic > 0 || options.nics_per_server > 0 ||
             !options.bus_bandwidths.empty() || !options.ratios.empty())) {
            throw ConfigError(
                "simai: -n is missing, and bandwidths are SimAI_analytical's: use --analytical for "
                "its formulas");
        }
        require(options.topology, "-n", "the topology, e.g. of sluice topo --format simai");
        require(options.config, "-c", "SimAI.conf or another HPCC config");
        mode_ = parse_mode(options.mode, "simai --mode");
        environment_ =
            simai_environment(options.version, [](const char* name) { return std::getenv(name); });
    }

    /// Every part that can be read is; the others become misfits.
    void check() {
        attempt([&] { read_workload(); });
        attempt([&] { read_network(); });
        for (const std::string& doubt : environment_.doubts) report_.skipped("environment", doubt);
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
        const AicbWorkload& workload = *inputs_.workload;
        const AicbLayout& layout = *inputs_.layout;
        AicbGraph graph = build_aicb_graph(workload, layout, graph_config(), report_);
        graph.graph.finish();
        tell();
        const BuiltExperiment built = build(std::move(graph.graph));
        RunRequest request;
        request.mode = mode_;
        request.name = "simai";
        request.config_json = hpcc_config_json(*inputs_.config);
        request.directory = folder();
        request.add_results = [&](RunWriter& writer) {
            const JobApplication& job = *built.jobs.front().application;
            if (!job.complete()) return;
            const AicbEndToEnd times =
                measure_aicb(workload, graph.records, job,
                             options_.pipeline_traffic ? AicbAccount::whole : AicbAccount::simai,
                             inputs_.header);
            writer.add_file(kSimulatedFile)
                << format_end_to_end(workload, layout, times, EndToEndStyle::simulated,
                                     kSimulatedRun, fs::path(folder()).filename().string());
        };
        return run_and_tell(built, std::move(request), options_.quiet, false);
    }

  private:
    std::string folder() const { return options_.out.empty() ? "runs/simai" : options_.out; }

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
        inputs_.workload = read_aicb(options_.workload, report_, options_.rows);
        inputs_.header = inputs_.workload->header;
    }

    void read_network() {
        const Topology topology = read_topology(options_.topology, &report_);
        inputs_.config = read_hpcc_config(options_.config);
        HpccConfig& config = *inputs_.config;
        force_global_window(config, report_);
        for (const std::string& note : config.notes) report_.skipped_line(note, config.path);
        inputs_.topology = with_ns3_links(topology, config.error_rate);
        inputs_.gpus = static_cast<RankId>(topology.host_count());
        std::vector<std::string> notes;
        const auto seed = static_cast<std::uint64_t>(config.random_seed);
        inputs_.network = hpcc_network(config, *inputs_.topology,
                                       options_.seed != 0 ? options_.seed : seed, notes);
        inputs_.network.ecn.nvswitches = false;  // SimAI's mark nothing
        widen_sequence_numbers(inputs_.network.format);
        choose_arithmetic(inputs_.network, *inputs_.topology, mode_);
        for (const std::string& note : notes) report_.skipped_line(note, config.path);
        report_.read(config.path, fmt::format("{} keys", config.lines.size()));
    }

    void make_layout() {
        SimaiReading reading;
        if (options_.gpus == 0) reading.gpus = inputs_.gpus;
        reading.pipeline = options_.pipeline_traffic;
        read_as_simai(*inputs_.workload, reading, report_);
        inputs_.layout.emplace(*inputs_.workload, inputs_.gpus, inputs_.topology->gpus_per_server,
                               static_cast<RankId>(options_.gpus), report_);
        nvls_ = environment_.nvls && nvls_possible();
        if (nvls_) inputs_.topology = with_nvswitch_hosts(*inputs_.topology);
    }

    /// Whether SimAI would choose NVLS; what it would end without a table for is said.
    bool nvls_possible() {
        const Topology& topology = *inputs_.topology;
        const std::string& gpu = topology.gpu_type;
        const bool able = gpu == "H100" || gpu == "H800" ||
                          (gpu == "H20" && options_.version == SimaiVersion::v1_7);
        const RankId tp = inputs_.layout->tp();
        constexpr RankId kLeast = 8;
        if (!able || tp < kLeast) {
            report_.skipped(
                "environment",
                fmt::format("AS_NVLS_ENABLE: SimAI reduces in NVSwitches on H100 and H800 and in "
                            "tensor-parallel groups of at least 8; here are {} and {}: rings",
                            gpu.empty() ? "no GPU type" : gpu, tp));
            return false;
        }
        if (tp > topology.gpus_per_server) {
            report_.doubtful(
                "environment",
                fmt::format("AS_NVLS_ENABLE: a tensor-parallel group of {} spans servers of {}: "
                            "SimAI ends without a table there; here its all-reduces are rings",
                            tp, topology.gpus_per_server));
            return false;
        }
        return true;
    }

    AicbGraphConfig graph_config() const {
        AicbGraphConfig config;
        config.compute_scale = options_.compute_scale;
        config.micro_batches = options_.micro_batches;
        if (options_.operations > 0)
            config.most_operations = static_cast<double>(options_.operations);
        config.schedule = find_schedule(options_.schedule);
        config.nvls = nvls_;
        if (!options_.pipeline_traffic) config.queue = AicbQueue::last_issued;
        CollectiveOptions& collectives = config.collectives;
        collectives.computed_in_server = false;
        const std::uint32_t per_server = inputs_.topology->gpus_per_server;
        collectives.server = [per_server](RankId rank) { return rank / per_server; };
        collectives.rail = [per_server](RankId rank) { return rank % per_server; };
        collectives.channels_in_server = true;
        // SimAI's engine hands what is sent at one instant to the hosts last come, first served.
        collectives.last_first = true;
        // Its all-gather compares AS_PXN_ENABLE as pointers, which never are equal.
        if (environment_.pxn) {
            collectives.ring_pxn = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter};
        }
        if (nvls_) {
            config.more_ranks =
                static_cast<RankId>(inputs_.topology->host_count()) - inputs_.layout->world();
            collectives.nvswitch = [gpus = inputs_.gpus](std::uint32_t server) {
                return gpus + server;
            };
        }
        collectives.departure = [this, per_server](RankId from, RankId to, std::int64_t bytes) {
            return departure_time(*inputs_.topology, inputs_.network.format, from,
                                  from / per_server == to / per_server, bytes);
        };
        set_latencies(collectives);
        return config;
    }

    /// A step is forwarded 10 ns after its sender's last acknowledgement, and steps one after the
    /// other. Ranks learn of each other no sooner than the network's lookahead, which comes off the
    /// next message's wait.
    void set_latencies(CollectiveOptions& collectives) const {
        constexpr Tick kForwarding = 10 * kNanosecond;
        const Tick lookahead = step::network_lookahead(*inputs_.topology, inputs_.network);
        const Tick notice = (lookahead + kNanosecond - 1) / kNanosecond * kNanosecond;
        const auto wait = [&](Tick latency) { return std::max<Tick>(0, latency - notice); };
        collectives.receipt_notice = notice;
        collectives.forwarding = kForwarding;
        // The first message of each has no receipt before it.
        collectives.overhead = notice + kForwarding;
        collectives.step_overhead = wait(environment_.send_latency);
        collectives.server_step_overhead = wait(environment_.server_send_latency);
        collectives.nvswitch_step_overhead = wait(environment_.nvswitch_send_latency) + kForwarding;
    }

    /// What a user would miss otherwise: what does not fit, and what of the workload is not run.
    void tell() const {
        if (options_.quiet) return;
        constexpr std::size_t kMostLines = 10;
        std::vector<std::string> lines = options_.notes;
        lines.insert(lines.end(), environment_.doubts.begin(), environment_.doubts.end());
        for (const ImportNote& note : report_.notes()) {
            const bool workload = note.where.rfind(options_.workload, 0) == 0;
            const bool environment = note.where.rfind("environment", 0) == 0;
            if (note.kind == ImportNote::Kind::misfit || note.kind == ImportNote::Kind::doubtful ||
                (note.kind == ImportNote::Kind::skipped && (workload || environment))) {
                lines.push_back(note.where + ": " + note.text);
            }
        }
        for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
            print_error("sluice: {}\n", lines[i]);
        }
        if (lines.size() > kMostLines) {
            print_error("sluice: {} more notes: simai --check lists them\n",
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
        WorkloadPart part(make_workload(
            std::move(graph), {hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(ranks)}));
        // There every message is a queue pair of its own, from the next source port.
        for (FlowSpec& flow : part.flows) flow.connection = kNone;
        part.name = "simai";
        part.description = fmt::format("{} on {} GPUs", options_.workload, ranks);
        std::vector<WorkloadPart> parts;
        parts.push_back(std::move(part));
        return build_experiment(std::move(experiment), std::move(parts), options_.workload);
    }

    const SimaiOptions& options_;
    ImportReport& report_;
    Mode mode_ = Mode::packet;
    SimaiEnvironment environment_;
    Inputs inputs_;
    bool nvls_ = false;
};

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

int simai_command(CommandLine app) {
    const std::vector<std::string> words = app.remaining();
    if (std::find(words.begin(), words.end(), "--help") != words.end() ||
        std::find(words.begin(), words.end(), "-h") != words.end()) {
        print("{}", app.help());
        return kExitDone;
    }
    const SimaiOptions options = parse_simai_options(words);
    ImportReport report;
    if (options.check) return check_inputs(options, report);
    if (options.analytical) return run_analytical(options, report);
    return Simulation(options, report).run();
}

}  // namespace

Command add_simai_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "simai", "Run SimAI's input files, by SimAI's options: -w workload -n topology -c conf");
    app.take_all_words();
    app.footer(simai_options_help());
    return {app, [app] { return simai_command(app); }};
}

}  // namespace sluice
