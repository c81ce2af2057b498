// SPDX-License-Identifier: Apache-2.0
/// `sluice run`: a scenario through the engine of its mode into its output folder.
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/evaluate/replicas.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "core/error.h"
#include "core/memo/store.h"
#include "core/results/mode.h"
#include "core/routing/paths.h"
#include "core/text/config_value.h"
#include "experiment/build_experiment.h"
#include "experiment/configuration_of.h"
#include "experiment/hpcc/hpcc_import.h"
#include "experiment/hpcc/hpcc_outputs.h"
#include "experiment/lossless.h"
#include "experiment/modes/mode_run.h"
#include "experiment/run_memo.h"
#include "experiment/run_to_folder.h"

namespace sluice {

namespace {

void print_hpcc_summary(const RunReport& report, const std::string& folder) {
    const Summary& summary = report.summary;
    print(
        "{} of {} flows finished, simulated {:.9f} s, {} packet-hops in {:.2f} s user time ({:.2f} "
        "M/s)\n",
        summary.flows_completed, summary.flows, to_seconds(report.outcome.simulated),
        report.outcome.counters.packet_hops, report.outcome.user_s,
        summary.packet_hops_per_s * 1e-6);
    if (summary.flows_completed > 0) {
        const auto microseconds = [](Tick time) {
            return static_cast<double>(time) / static_cast<double>(kMicrosecond);
        };
        print("FCT mean {:.3f} us, p50 {:.3f} us, p99 {:.3f} us, max {:.3f} us\n",
              summary.fct_mean_s * 1e6, microseconds(summary.fct_p50),
              microseconds(summary.fct_p99), microseconds(summary.fct_max));
    }
    print("Results in {}\n", folder);
}

void tell_hpcc(const HpccImport& import, const RunReport& report, const std::string& folder) {
    print_hpcc_summary(report, folder);
    if (report.outcome.interrupted) return;
    const Summary& summary = report.summary;
    if (summary.flows_completed < summary.flows) {
        print_error("note: {} of {} flows did not finish\n",
                    summary.flows - summary.flows_completed, summary.flows);
    }
    const std::string lost = lossless_warning(import.experiment, report.outcome.counters);
    if (!lost.empty()) print_error("warning: {}\n", lost);
}

int run_hpcc_experiment(const RunOptions& options) {
    if (!options.scenario.empty() || !options.sets.empty()) {
        throw ConfigError("run: --hpcc takes neither a scenario nor --set; edit its config.txt");
    }
    if (options.record_queues) {
        throw ConfigError(
            "run: --hpcc has its own queue monitor; --record-queues is for scenarios only");
    }
    if (options.no_skip || (!options.mode.empty() && options.mode != "packet")) {
        throw ConfigError("run: --hpcc runs in packet mode, where ns-3's order of events holds");
    }
    if (options.check) {
        const ImportReport report = check_hpcc(options.hpcc, options.paths);
        return print_check(report);
    }
    const HpccImport import = import_hpcc(options.hpcc, options.paths, 0);
    for (std::size_t i = 0; !options.quiet && i < import.notes.size(); ++i) {
        print_error("note: {}\n", import.notes[i]);
    }
    Progress progress(options.quiet);
    const InterruptGuard guard;
    HpccRequest request;
    request.directory = options.out.empty() ? "runs/hpcc" : options.out;
    request.go_on = [&](const RunPosition& at) {
        progress.tick([&] {
            return ProgressSample{at.now, at.flows_finished, import.experiment.flows.size(), 0, 0};
        });
        return !InterruptGuard::requested();
    };
    const RunReport report = run_hpcc(import, request);
    progress.clear();
    if (!options.quiet) tell_hpcc(import, report, request.directory);
    return report.exit_code();
}

/// Paths from a file, in place of ECMP's; what is expected of each flow is by its path.
void take_paths(BuiltExperiment& built, const RunOptions& options) {
    Experiment& experiment = built.experiment;
    // The mode does not matter.
    refuse(configuration_of(experiment, Mode::packet), "--paths");
    std::size_t unlisted = 0;
    experiment.paths =
        paths_of(PathTable::read(options.paths, experiment.topology), experiment.flows, unlisted);
    built.estimate = estimate_traffic(experiment);
    if (unlisted > 0 && !options.quiet) {
        print_error("sluice: {}: {} of {} flows are not listed and go by ECMP\n", options.paths,
                    unlisted, experiment.flows.size());
    }
}

/// "10%" or "0.1".
double parse_share(const std::string& text) {
    std::size_t read = 0;
    double share = -1;
    try {
        share = std::stod(text, &read);
    } catch (const std::exception&) {
        read = 0;
    }
    const std::string rest = text.substr(read);
    share = rest == "%" ? share / 100 : share;
    if (read == 0 || (!rest.empty() && rest != "%") || !(share >= 0 && share <= 1)) {
        throw ConfigError("--audit: \"" + text + "\": must be from 0% to 100%, or from 0 to 1");
    }
    return share;
}

/// The scenario, with the options that stand for keys of it applied.
Scenario load_for_run(const RunOptions& options) {
    ConfigValue values = load_config(options.scenario);
    if (options.prepare) options.prepare(values);
    for (const std::string& set : options.sets) override_config(values, set);
    if (!options.mode.empty()) {
        require_offered(parse_mode(options.mode, "--mode"), "--mode " + options.mode);
        set_config(values, "mode", text_value(options.mode), "--mode");
    }
    if (options.record_queues) {
        set_config(values, "output.record_queues", boolean_value(true), "--record-queues");
    }
    if (options.no_fold) set_config(values, "fold", boolean_value(false), "--no-fold");
    if (options.no_skip) {
        set_config(values, "phases.skip", boolean_value(false), "--no-skip");
        set_config(values, "phases.memo", boolean_value(false), "--no-skip");
    }
    if (options.no_memo) set_config(values, "phases.memo", boolean_value(false), "--no-memo");
    if (!options.memo.empty()) set_config(values, "phases.memo", boolean_value(true), "--memo");
    if (!options.audit.empty()) {
        set_config(values, "phases.audit", number_value(parse_share(options.audit)), "--audit");
    }
    Scenario scenario = make_scenario(std::move(values), options.scenario);
    scenario.allow_oom = options.allow_oom;
    require_offered(scenario.mode, options.scenario + ": mode " + mode_name(scenario.mode));
    for (const auto& [option, given] : {std::pair{"--record-queues", options.record_queues},
                                        {"--no-skip", options.no_skip},
                                        {"--memo", !options.memo.empty()},
                                        {"--audit", !options.audit.empty()},
                                        {"--no-fold", options.no_fold}}) {
        if (given) refuse(Configuration(scenario), option);
    }
    return scenario;
}

void tell_note(const std::string& line) {
    if (!line.empty()) print_error("sluice: {}\n", line);
}

unsigned replica_threads(const RunOptions& options) {
    if (options.threads > 0) return static_cast<unsigned>(options.threads);
    return std::max(1U, std::thread::hardware_concurrency());
}

/// What a replication needs of the scenario's keys: its packets are not recorded.
ConfigValue without_records(ConfigValue values) {
    for (ConfigMember& member : values.table) {
        if (member.key != "output") continue;
        std::vector<ConfigMember>& keys = member.value.table;
        keys.erase(std::remove_if(keys.begin(), keys.end(),
                                  [](const ConfigMember& one) {
                                      return one.key == "rtt" || one.key == "capture" ||
                                             one.key == "waves";
                                  }),
                   keys.end());
    }
    return values;
}

int run_scenario(const RunOptions& options) {
    Scenario scenario = load_for_run(options);
    const ConfigValue values = without_records(*scenario.values);
    const OutputConfig output = scenario.output;
    const std::vector<std::string> unused = keys_without_effect(scenario);
    const bool usual =
        options.memo.empty() && automatic_choice("--memo", Configuration(scenario)) != nullptr;
    BuiltExperiment built = build_experiment(scenario);
    tell(built.import_notes);
    if (!options.paths.empty()) take_paths(built, options);
    built.experiment.threads = options.threads;
    std::string directory = options.out.empty() ? output.directory : options.out;
    if (directory.empty()) directory = "runs/" + scenario.name;

    RunRequest request;
    request.mode = scenario.mode;
    request.name = scenario.name;
    request.seed = scenario.seed;
    request.config_json = scenario.effective->json();
    request.directory = directory;
    request.outputs = output.optional;
    request.series_step = output.series_step;
    request.watched = output.watched;
    request.keys_without_effect = unused;
    const RunMemo memo(usual ? memo::default_path() : options.memo, !usual, request.config_json,
                       built.experiment);
    tell_note(memo.note());
    std::optional<Replicas> replicas;
    const std::size_t wanted = options.replicas > 0 ? options.replicas : scenario.replicas;
    if (wanted > 0) {
        request.add_results = [&](RunWriter& writer) {
            replicas = run_replicas(values, options.scenario, wanted, replica_threads(options),
                                    options.quiet);
            writer.add_file("replicas.csv") << replicas_csv(*replicas);
        };
    }
    const int code = run_and_tell(built, std::move(request), options.quiet, wanted == 0);
    tell_note(memo.save());
    if (!replicas) return code;
    if (!options.quiet) print_text(replicas_text(*replicas));
    if (!replicas->failure.empty()) print_error("sluice: {}\n", replicas->failure);
    if (replicas->interrupted) return kExitInterrupted;
    return replicas->failure.empty() ? code : std::max(code, int{kExitWorkLeft});
}

}  // namespace

int run_command(const RunOptions& options) {
    if (!options.hpcc.empty()) return run_hpcc_experiment(options);
    if (options.check) throw ConfigError("run: --check needs --hpcc config.txt");
    if (options.scenario.empty()) {
        throw ConfigError("run: needs a SCENARIO.toml, or --hpcc config.txt");
    }
    return run_scenario(options);
}

CommandOption add_set_option(CommandLine command, std::vector<std::string>& sets,
                             const std::string& text) {
    return command.add_option("--set", sets, text).type_name("KEY=VALUE").one_value_each();
}

CommandOption add_mode_option(CommandLine command, std::string& mode, const std::string& text) {
    std::vector<std::string> words;
    for (const auto& [name, value] : mode_words()) words.emplace_back(name);
    return command.add_option("--mode", mode, text).type_name("MODE").offers(words);
}

Command add_run_command(CommandLine program) {
    const auto options = std::make_shared<RunOptions>();
    CommandLine app = program.add_subcommand("run", "Run one experiment");
    app.add_option("scenario", options->scenario, "The scenario file").type_name("SCENARIO.toml");
    add_mode_option(app, options->mode, "Mode (default: the scenario's)");
    add_set_option(app, options->sets, kSetHelp);
    app.add_option("--out", options->out, "Output folder (default: runs/NAME)").type_name("DIR");
    app.add_option("--threads", options->threads,
                   "Number of threads, in all modes but flow; does not change results (default:\n"
                   "in mode packet all cores where they help, with phases 2)")
        .type_name("N")
        .range(1, 4096);
    app.add_flag(
        "--no-skip", options->no_skip,
        "In modes hybrid and wormhole: skip nothing, to measure what skipping costs and saves");
    app.add_flag("--no-fold", options->no_fold,
                 "In all modes but flow: disable symmetry reduction, so that symmetric copies\n"
                 "are executed, too; does not change results");
    CommandOption file =
        app.add_option(
               "--memo", options->memo,
               "In modes hybrid and wormhole: the memo, a file with results of earlier runs,\n"
               "which the run uses and extends (default in mode wormhole: in the user's cache)")
            .type_name("FILE");
    app.add_flag("--no-memo", options->no_memo,
                 "In mode wormhole: disable memoization, both within the run and across runs")
        .excludes(file);
    app.add_option("--audit", options->audit,
                   "In modes hybrid and wormhole: simulate a random sample of skips with packets\n"
                   "as well, up to SHARE of the packet-hops, and report the error (default: 10%\n"
                   "in mode wormhole)")
        .type_name("SHARE");
    app.add_option("--replicas", options->replicas,
                   "Run N replications that differ only in cable delays (by picoseconds) and in\n"
                   "the network's random draws, and report how much times vary")
        .type_name("N")
        .range(2, 10000);
    app.add_flag("--record-queues", options->record_queues,
                 "In mode packet: write queues.bin, the training data of sluice train");
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    app.add_option("--hpcc", options->hpcc, "Run an HPCC ns-3 experiment instead")
        .type_name("config.txt");
    app.add_flag(
        "--check", options->check,
        "With --hpcc: report what was read, what was skipped and what does not fit; run nothing");
    app.add_option("--paths", options->paths,
                   "Paths of flows (src,dst,sport,path), in place of ECMP")
        .type_name("flow_paths.csv");
    app.add_flag("--allow-oom", options->allow_oom,
                 "Warn about jobs that do not fit their GPUs' memory, instead of refusing them");
    return {app, [options] { return run_command(*options); }};
}

}  // namespace sluice
