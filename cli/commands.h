// SPDX-License-Identifier: Apache-2.0
/// The program's sub-commands. Each returns an exit code and throws ConfigError for the user's
/// mistakes; main.cpp parses the command line and turns errors into one line and a code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "experiment/exit_codes.h"

namespace sluice {

struct ConfigValue;

/// All sub-commands, in the order in which --help lists them: each is add_NAME_command() in a file of its
/// own, which knows its options.
// clang-format off
#define SLUICE_COMMANDS(COMMAND)                                         \
    COMMAND(run)        /* a scenario, in one mode                    */ \
    COMMAND(compare)    /* a scenario, in several modes               */ \
    COMMAND(batch)      /* many experiments, in one process           */ \
    COMMAND(evaluate)   /* trials, until their figures are sure       */ \
    COMMAND(report)     /* results as a page to look at               */ \
    COMMAND(describe)   /* what would run, without running it         */ \
    COMMAND(topo)       /* networks and their files                   */ \
    COMMAND(collective) /* a collective over a range of sizes         */ \
    COMMAND(calibrate)  /* a GPU type's file from nccl-tests          */ \
    COMMAND(simai)      /* SimAI's programs by their own options      */ \
    COMMAND(astra)      /* ASTRA-sim's programs by their own options  */ \
    COMMAND(chakra)     /* Chakra traces                              */ \
    COMMAND(goal)       /* GOAL schedules                             */ \
    COMMAND(train)      /* the model that restores queues             */ \
    COMMAND(workload)   /* workload files of other tools, from models */ \
    COMMAND(memo)       /* what need not be simulated again          */ \
    COMMAND(doctor)     /* what works here                           */ \
    COMMAND(init)       /* a scenario to begin with                  */ \
    COMMAND(completion) /* for shells                                */ \
    COMMAND(manual)     /* as a man page                             */
// clang-format on

/// A sub-command: its place in the command line, and what it does when it was typed.
struct Command {
    CommandLine app;
    std::function<int()> run;
};

#define SLUICE_DECLARE_COMMAND(name) Command add_##name##_command(CommandLine program);
SLUICE_COMMANDS(SLUICE_DECLARE_COMMAND)
#undef SLUICE_DECLARE_COMMAND

/// "--set KEY=VALUE", as often as wanted.
CommandOption add_set_option(CommandLine command, std::vector<std::string>& sets,
                             const std::string& text);
/// What --set says in --help wherever there is always a scenario.
inline constexpr const char* kSetHelp = "Override a key of the scenario, e.g. network.payload=4096";

/// "--mode MODE", any of them.
CommandOption add_mode_option(CommandLine command, std::string& mode, const std::string& text);

struct RunOptions {
    std::string scenario;           ///< SCENARIO.toml; empty with hpcc
    std::string hpcc;               ///< an HPCC ns-3 config.txt
    std::string paths;              ///< flow_paths.csv; empty: by ECMP
    std::string mode;               ///< overrides the scenario's
    std::string out;                ///< overrides the scenario's output folder
    std::string memo;               ///< file of a memo; empty: the usual one
    std::vector<std::string> sets;  ///< "key=value"
    /// What a command changes of the scenario before `sets`; may be empty.
    std::function<void(ConfigValue&)> prepare;
    int threads = 0;         ///< 0: as many as help
    bool check = false;      ///< with hpcc: reads the files and says what is in them
    bool no_skip = false;    ///< hybrid mode: all else on, nothing is skipped
    bool no_memo = false;    ///< nothing is remembered
    bool no_fold = false;    ///< copies are executed one by one
    bool allow_oom = false;  ///< jobs that do not fit their GPUs: a warning, not an error
    std::string audit;       ///< share of the packet-hops, "10%" or 0.1; empty: the scenario's
    std::size_t replicas =
        0;  ///< further runs that differ by their perturbation; 0: the scenario's
    bool record_queues = false;
    bool quiet = false;
};

int run_command(const RunOptions& options);

}  // namespace sluice
