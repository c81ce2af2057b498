// SPDX-License-Identifier: Apache-2.0
/// `sluice goal FILE`: a GOAL schedule under LogGOPS, with LogGOPSim's options and lines, or on a
/// network; its check, and its conversion between text and binary. htsim's connection matrices on a
/// network, and the check of its files.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/goal_merge.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_names.h"
#include "core/text/config_value.h"
#include "core/topology/topology_file.h"
#include "scenario/workload/import_notes.h"
#include "workloads/goal/connection_matrix.h"
#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_graph.h"
#include "workloads/goal/goal_text.h"
#include "workloads/goal/htsim_files.h"
#include "workloads/goal/loggops.h"

namespace sluice {

namespace {

/// LogGOPSim names all hosts of so many.
constexpr std::size_t kFewHosts = 16;

struct GoalCommandOptions {
    std::string file;
    std::string merge;
    std::uint64_t seed = 1;  ///< of a random pattern
    LogGopsParameters loggops;
    double intra_latency = -1;  ///< negative: as L
    double intra_gap_per_byte = -1;
    std::string network_type = "LogGP";
    bool batch = false;
    std::string topology;  ///< a scenario whose network carries the messages
    std::string layout = "auto";
    std::string mode;
    std::string out;
    std::vector<std::string> sets;
    bool check = false;
    std::string to_binary;
    std::string to_text;
    bool quiet = false;
};

using Writer = void (*)(const GoalSchedule&, const std::function<void(std::string_view)>&);

void convert(const GoalSchedule& schedule, Writer writer, const std::string& path) {
    OutputFile file(path);
    writer(schedule, [&](std::string_view piece) { file << piece; });
    file.commit();
    print("written to {}\n", path);
}

int check_schedule(const GoalSchedule& schedule, const GoalCommandOptions& options,
                   ImportReport& report) {
    report.read(options.file, fmt::format("{} CPUs and {} NICs per rank{}", schedule.max_cpu() + 1,
                                          schedule.max_nic() + 1,
                                          schedule.has_wildcards() ? ", with wildcards" : ""));
    const GoalLayout layout = options.layout == "gpu" ? GoalLayout::gpu : GoalLayout::node;
    report.read(options.file,
                fmt::format("needs {} hosts of a network", std::uint64_t{schedule.rank_count()} *
                                                               hosts_per_rank(schedule, layout)));
    report_matches(schedule, match_goal(schedule, options.loggops), options.file, report);
    return print_check(report);
}

int run_loggops(const GoalSchedule& schedule, const GoalCommandOptions& options) {
    LogGopsParameters p = options.loggops;
    p.intra_latency =
        options.intra_latency < 0 ? p.latency : static_cast<std::int64_t>(options.intra_latency);
    p.intra_gap_per_byte =
        options.intra_gap_per_byte < 0 ? p.gap_per_byte : options.intra_gap_per_byte;
    if (options.network_type == "simple" && !options.quiet) {
        print_error("sluice: -n simple is LogGP here, as in ATLAHS; --topology gives a network\n");
    }
    if (!options.quiet) {
        print("size: {} ({} CPUs, {} NICs); L={}, o={} g={}, G={:f}, O={}, P={}, S={}\n",
              schedule.rank_count(), schedule.max_cpu() + 1, schedule.max_nic() + 1, p.latency,
              p.overhead, p.gap, p.gap_per_byte, p.overhead_per_byte, schedule.rank_count(),
              p.largest_eager);
    }
    const LogGopsResult result = simulate_loggops(schedule, p);
    for (const std::string& line : result.blocked) print_error("sluice: {}\n", line);
    if (result.blocked_count > 0) {
        print_error("sluice: {} operations and messages are left; no times\n",
                    result.blocked_count);
        return kExitWorkLeft;
    }
    if (result.host_ns.size() <= kFewHosts && !options.batch) {
        print("Times: \n");
        for (std::size_t host = 0; host < result.host_ns.size(); ++host) {
            print("Host {}: {}\n", host, result.host_ns[host]);
        }
    }
    const auto latest = std::max_element(result.host_ns.begin(), result.host_ns.end());
    print("Maximum finishing time at host {}: {} ({:g} s)\n", latest - result.host_ns.begin(),
          *latest, static_cast<double>(*latest) / 1e9);
    return kExitDone;
}

int run_on_network(const GoalCommandOptions& options) {
    RunOptions run;
    run.scenario = options.topology;
    run.mode = options.mode;
    run.out = options.out;
    run.quiet = options.quiet;
    run.sets = options.sets;
    run.prepare = [&](ConfigValue& values) {
        const auto set = [&](const char* key, ConfigValue value) {
            set_config(values, key, std::move(value), "goal");
        };
        const bool matrix = htsim_file(options.file) == HtsimFile::matrix;
        set("workload", {});
        set("workload.type", text_value(matrix ? "htsim" : "goal"));
        set("workload.file", text_value(options.file));
        if (!matrix) set("workload.layout", text_value(options.layout));
    };
    return run_command(run);
}

/// htsim's files: both can be checked, and a matrix runs on a network; neither is a schedule.
int htsim_command(const GoalCommandOptions& options, HtsimFile kind) {
    const bool matrix = kind == HtsimFile::matrix;
    ImportReport report;
    if (options.check) {
        if (matrix) {
            read_connection_matrix(TokenReader::open(options.file), report);
        } else {
            read_topology_file(options.file, &report);
        }
        return print_check(report);
    }
    if (!matrix) {
        throw ConfigError(options.file, 0,
                          "is htsim's topology, no workload: a scenario's [topology] type = "
                          "\"file\" names it (path), and --check says what it holds");
    }
    if (!options.to_binary.empty() || !options.to_text.empty()) {
        throw ConfigError(options.file, 0,
                          "is htsim's connection matrix, which has no form as a GOAL schedule: "
                          "--to-binary and --to-text are for schedules");
    }
    if (options.topology.empty()) {
        throw ConfigError(options.file, 0,
                          "is htsim's connection matrix, for which LogGOPS has no times: "
                          "--topology SCENARIO.toml runs it on that network, --check says what "
                          "it holds");
    }
    if (options.layout != "auto") {
        throw ConfigError("goal: --goal-layout is for GOAL schedules; node n of " + options.file +
                          ", htsim's connection matrix, is host n");
    }
    return run_on_network(options);
}

int goal_command(GoalCommandOptions options) {
    if (options.file.empty() == options.merge.empty()) {
        throw ConfigError(
            "goal: needs a FILE (GOAL text or binary, or htsim's connection matrix), or --merge "
            "CONFIG.json");
    }
    const bool merges = !options.merge.empty();
    const HtsimFile htsim = merges ? HtsimFile::none : htsim_file(options.file);
    if (htsim != HtsimFile::none) return htsim_command(options, htsim);
    const bool converts = !options.to_binary.empty() || !options.to_text.empty();
    if (!options.topology.empty() && !options.check && !converts) {
        if (merges) {
            throw ConfigError(
                "goal: --merge and --topology: write the merged schedule first, or give "
                "the scenario a [[workload]] for each");
        }
        return run_on_network(options);
    }
    ImportReport report;
    const GoalSchedule schedule = merges ? read_goal_merge(options.merge, options.seed, report)
                                         : read_goal(options.file, report);
    if (merges) options.file = options.merge;
    require_different({{"the schedule", options.file},
                       {"--to-binary", options.to_binary},
                       {"--to-text", options.to_text}});
    if (!options.to_binary.empty()) convert(schedule, write_goal_binary, options.to_binary);
    if (!options.to_text.empty()) convert(schedule, write_goal_text, options.to_text);
    if (options.check) return check_schedule(schedule, options, report);
    if (converts) return kExitDone;
    if (!options.quiet) tell(note_lines(report, "--check"));
    return run_loggops(schedule, options);
}

}  // namespace

Command add_goal_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "goal", "Simulate a GOAL schedule: with LogGOPS, as LogGOPSim, or on a network");
    const auto options = std::make_shared<GoalCommandOptions>();
    app.add_option("file,-f,--filename", options->file,
                   "The schedule, text or binary; or htsim's connection matrix (.cm, .tm)")
        .type_name("FILE");
    app.add_option("--merge", options->merge,
                   "Merge the schedules of several jobs into one, like merge_goals.py")
        .type_name("CONFIG.json");
    app.add_option("--seed", options->seed,
                   "With --merge: seed of the pattern \"random\" (default: 1)")
        .type_name("N");
    LogGopsParameters& p = options->loggops;
    app.add_option("-L,--LogGOPS_L", p.latency, "Latency, ns").show_default();
    app.add_option("-o,--LogGOPS_o", p.overhead, "CPU time per message, ns").show_default();
    app.add_option("-g,--LogGOPS_g", p.gap, "NIC time per message, ns").show_default();
    app.add_option("-G,--LogGOPS_G", p.gap_per_byte, "NIC time per byte, ns").show_default();
    app.add_option("-O,--LogGOPS_O", p.overhead_per_byte, "CPU time per byte, ns").show_default();
    app.add_option("-S,--LogGOPS_S", p.largest_eager, "Largest eager message, bytes")
        .show_default();
    app.add_option("--ranks-per-node", p.ranks_per_node,
                   "Ranks per node; messages inside a node use the next two options (0: none)");
    app.add_option("--LogGOPS_L_intra", options->intra_latency, "L inside a node (default: L)");
    app.add_option("--LogGOPS_G_intra", options->intra_gap_per_byte,
                   "G inside a node (default: G)");
    app.add_option("-n,--network-type", options->network_type, "LogGP or simple; both mean LogGP")
        .one_of({"LogGP", "simple"});
    app.add_flag("-b,--batchmode", options->batch, "Print the maximum only");
    app.add_option(
           "--topology", options->topology,
           "Simulate the schedule on the network of this scenario, in place of its workload")
        .type_name("SCENARIO.toml");
    app.add_option("--goal-layout", options->layout,
                   "With --topology: hosts per rank: one (gpu), one per NIC (node), or as the\n"
                   "schedule requires (auto, the default)")
        .one_of({"auto", "node", "gpu"});
    app.add_option("--mode", options->mode, "With --topology: the mode (default: the scenario's)")
        .type_name("MODE")
        .offers({"packet", "hybrid", "flow"});
    app.add_option("--out", options->out, "With --topology: output folder (default: runs/NAME)")
        .type_name("DIR");
    add_set_option(app, options->sets, "With --topology: override a key of the scenario");
    app.add_flag("--check", options->check,
                 "Report what was read, what was skipped and what does not fit; run nothing.\n"
                 "Also accepts htsim's topologies");
    app.add_option("--to-binary", options->to_binary, "Write the schedule as GOAL binary")
        .type_name("FILE");
    app.add_option("--to-text", options->to_text, "Write the schedule as GOAL text")
        .type_name("FILE");
    app.add_flag("--quiet", options->quiet, "Print nothing but results and errors");
    return {app, [options] { return goal_command(*options); }};
}

}  // namespace sluice
