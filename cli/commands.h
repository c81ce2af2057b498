// SPDX-License-Identifier: Apache-2.0
/// The program's sub-commands. Each returns an exit code and throws ConfigError for the user's
/// mistakes; main.cpp lists them, parses the command line and turns errors into one line and a code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/exit_codes.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace sluice {

struct ConfigValue;

/// A sub-command: its place in the command line, and what it does when it was typed. Each lives in
/// a file of its own that knows its options; main.cpp lists them.
struct Command {
    CLI::App* app = nullptr;
    std::function<int()> run;
};

/// `sluice run` and `sluice compare`: a scenario, in one mode or several.
Command add_run_command(CLI::App& program);
Command add_compare_command(CLI::App& program);
/// `sluice describe`: what would run, without running it. `sluice topo`: networks and their files.
Command add_describe_command(CLI::App& program);
Command add_topo_command(CLI::App& program);
/// `sluice collective`: a collective over a range of sizes.
Command add_collective_command(CLI::App& program);
/// `sluice astra` and `sluice chakra`: Chakra traces (cli/astra.cpp, cli/chakra.cpp).
Command add_astra_command(CLI::App& program);
Command add_chakra_command(CLI::App& program);
/// `sluice goal`: GOAL schedules.
Command add_goal_command(CLI::App& program);
/// `sluice simai`: SimAI's programs by their own options.
Command add_simai_command(CLI::App& program);
/// `sluice workload`: workload files of other tools, from models.
Command add_workload_command(CLI::App& program);

/// "--set KEY=VALUE", as often as wanted.
CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& sets,
                            const std::string& text);
/// What --set says in --help wherever there is always a scenario.
inline constexpr const char* kSetHelp = "Override a key of the scenario, e.g. network.payload=4096";

struct RunOptions {
    std::string scenario;           ///< SCENARIO.toml; empty with hpcc
    std::string hpcc;               ///< an HPCC ns-3 config.txt
    std::string paths;              ///< flow_paths.csv; empty: by ECMP
    std::string mode;               ///< overrides the scenario's
    std::string out;                ///< overrides the scenario's output folder
    std::vector<std::string> sets;  ///< "key=value"
    /// What a command changes of the scenario before `sets`; may be empty.
    std::function<void(ConfigValue&)> prepare;
    int threads = 1;
    bool check = false;      ///< with hpcc: reads the files and says what is in them
    bool no_skip = false;    ///< hybrid mode: all else on, nothing is skipped
    bool allow_oom = false;  ///< jobs that do not fit their GPUs: a warning, not an error
    bool quiet = false;
};

int run_command(const RunOptions& options);

}  // namespace sluice
