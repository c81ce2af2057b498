// SPDX-License-Identifier: Apache-2.0
/// The command line: what may be typed, and how it ends. 0 done; 2 bad input, with one line on
/// standard error; 3 a run that came to rest with work left; 70 a defect of the program;
/// 130 interrupted, partial results kept.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/error.h"

namespace {

using sluice::RunOptions;
using sluice::TopoOptions;

/// One line whatever the message holds: a file's name may contain a line break.
int complain(int code, std::string message) {
    std::replace_if(
        message.begin(), message.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    fmt::print(stderr, "sluice: {}\n", message);
    return code;
}

/// "--k 8 --rate=100Gbps" as keys and values of a [topology] table.
std::vector<std::pair<std::string, std::string>> topology_settings(
    const std::vector<std::string>& words) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.size() < 3 || word.compare(0, 2, "--") != 0) {
            throw sluice::ConfigError("topo: expected --KEY VALUE, not \"" + word + "\"");
        }
        const std::size_t equals = word.find('=');
        std::string key = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        std::replace(key.begin(), key.end(), '-', '_');
        if (equals != std::string::npos) {
            settings.emplace_back(key, word.substr(equals + 1));
        } else if (i + 1 < words.size()) {
            settings.emplace_back(key, words[++i]);
        } else {
            throw sluice::ConfigError("topo: --" + key + " needs a value");
        }
    }
    return settings;
}

int run(int argc, char** argv) {
    CLI::App app{"Sluice simulates the networks of training clusters, packet by packet.", "sluice"};
    app.set_version_flag("--version", sluice::program_version());
    app.require_subcommand(1);

    RunOptions options;
    const auto add_sets = [](CLI::App* command, std::vector<std::string>& sets) {
        command
            ->add_option("--set", sets, "Override a key of the scenario, e.g. network.payload=4096")
            ->type_name("KEY=VALUE")
            ->type_size(1)
            ->allow_extra_args(false);
    };

    CLI::App* run_app = app.add_subcommand("run", "Run one experiment");
    run_app->add_option("scenario", options.scenario, "The scenario file")
        ->type_name("SCENARIO.toml");
    run_app->add_option("--mode", options.mode, "packet, hybrid, flow (default: the scenario's)")
        ->type_name("MODE");
    add_sets(run_app, options.sets);
    run_app->add_option("--out", options.out, "Output folder (default: runs/NAME)")
        ->type_name("DIR");
    run_app->add_option("--threads", options.threads, "Threads; packet mode runs on one")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    run_app->add_flag("--no-skip", options.no_skip,
                      "In mode hybrid: skip nothing, to see what skipping costs and gains");
    run_app->add_flag("--quiet", options.quiet, "Print nothing but errors");
    run_app->add_option("--hpcc", options.hpcc, "Run an HPCC ns-3 experiment instead")
        ->type_name("config.txt");
    run_app->add_flag(
        "--check", options.check,
        "With --hpcc: say what was read, what was skipped and what does not fit; run nothing");
    run_app
        ->add_option("--paths", options.paths,
                     "Paths of flows (src,dst,sport,path), in place of ECMP")
        ->type_name("flow_paths.csv");

    sluice::CompareOptions compare;
    CLI::App* compare_app = app.add_subcommand(
        "compare", "Run a scenario in several modes and say what each costs and how far it is off");
    compare_app->add_option("scenario", compare.scenario, "The scenario file")
        ->type_name("SCENARIO.toml")
        ->required();
    compare_app
        ->add_option("--modes", compare.modes,
                     "Modes; the first is the reference (default: all that this build offers)")
        ->type_name("packet,hybrid,flow");
    compare_app
        ->add_option("--repeat", compare.repeat,
                     "Runs of each mode; figures are medians (default: 1)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    compare_app->add_option("--json", compare.json, "Write the table to this file, too")
        ->type_name("FILE");
    compare_app->add_option("--out", compare.out, "Output folder (default: runs/NAME-compare)")
        ->type_name("DIR");
    add_sets(compare_app, compare.sets);
    compare_app->add_flag("--quiet", compare.quiet, "Print nothing but errors");

    sluice::DescribeOptions describe;
    CLI::App* describe_app =
        app.add_subcommand("describe", "Say what a scenario would run, without running it");
    const auto add_allow_oom = [](CLI::App* command, bool& allow) {
        command->add_flag("--allow-oom", allow,
                          "Jobs that do not fit their GPUs' memory: warn instead of refusing");
    };
    add_allow_oom(run_app, options.allow_oom);
    add_allow_oom(describe_app, describe.allow_oom);
    describe_app->add_option("scenario", describe.scenario, "The scenario file")
        ->type_name("SCENARIO.toml")
        ->required();
    describe_app
        ->add_option("--flows", describe.flows,
                     "Write the flows that have start times as an HPCC ns-3 flow.txt")
        ->type_name("FILE");
    describe_app->add_option("--topology", describe.topology, "Write the network as a topology.txt")
        ->type_name("FILE");
    add_sets(describe_app, describe.sets);

    TopoOptions topo;
    CLI::App* topo_app = app.add_subcommand(
        "topo",
        "Build a topology: --KEY VALUE for each key of its [topology] table "
        "(docs/scenario.md), e.g. topo fat-tree --k 8 --rate 100Gbps -o topology.txt");
    topo_app->add_option(
        "type", topo.type,
        "fat-tree, leaf-spine, rail-optimized, spectrum-x, ... (docs/scenario.md has all)");
    topo_app
        ->add_option("--file", topo.file,
                     "A topology.txt of HPCC ns-3 or SimAI, or htsim's .topo, in place of a type")
        ->type_name("FILE");
    topo_app->add_flag(
        "--check", topo.check,
        "With --file: say what was read, what was skipped and what does not fit; write nothing");
    topo_app->add_option("-o,--output", topo.output, "Where to write the topology.txt")
        ->type_name("FILE");
    topo_app
        ->add_option("--format", topo.format, "Header to write (default: what the network needs)")
        ->check(CLI::IsMember({"hpcc", "simai"}));
    topo_app->allow_extras();

    const std::vector<sluice::Command> commands = {
        sluice::add_astra_command(app),      sluice::add_chakra_command(app),
        sluice::add_simai_command(app),      sluice::add_workload_command(app),
        sluice::add_collective_command(app), sluice::add_goal_command(app),
    };

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        return complain(sluice::kExitBadInput,
                        std::string(error.what()) + " (sluice --help shows what is allowed)");
    }
    for (const sluice::Command& command : commands) {
        if (command.app->parsed()) return command.run();
    }
    if (describe_app->parsed()) return sluice::describe_command(describe);
    if (topo_app->parsed()) {
        topo.settings = topology_settings(topo_app->remaining());
        return sluice::topo_command(topo);
    }
    if (compare_app->parsed()) return sluice::compare_command(compare);
    return sluice::run_command(options);
}

}  // namespace

int main(int argc, char** argv) {
    // The kernel's banner would be the only thing that a quiet run prints.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    try {
        return run(argc, argv);
    } catch (const sluice::ConfigError& error) {
        return complain(sluice::kExitBadInput, error.what());
    } catch (const std::bad_alloc&) {
        return complain(sluice::kExitBadInput, "out of memory: the experiment is too large");
    } catch (const std::exception& error) {
        return complain(sluice::kExitInternal, std::string("internal error: ") + error.what());
    }
}
