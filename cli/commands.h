// SPDX-License-Identifier: Apache-2.0
/// The program's sub-commands. Each returns an exit code and throws ConfigError for the user's
/// mistakes; main.cpp parses the command line and turns errors into one line and a code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace sluice {

/// A sub-command: its place in the command line, and what it does when it was typed. Each lives in
/// a file of its own that knows its options; main.cpp lists them.
struct Command {
    CLI::App* app = nullptr;
    std::function<int()> run;
};

/// `sluice astra` and `sluice chakra`: Chakra traces (cli/astra.cpp, cli/chakra.cpp).
Command add_astra_command(CLI::App& program);
Command add_chakra_command(CLI::App& program);
/// `sluice goal`: GOAL schedules (cli/goal.cpp).
Command add_goal_command(CLI::App& program);

inline constexpr int kExitDone = 0;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitWorkLeft = 3;       ///< at rest with flows or operations unfinished
inline constexpr int kExitInternal = 70;      ///< a defect of the program
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C; what finished is on disk

/// The program's version: the release, and the commit where it was built from a checkout.
const char* program_version();

struct RunOptions {
    std::string scenario;           ///< SCENARIO.toml; empty with hpcc
    std::string hpcc;               ///< an HPCC ns-3 config.txt
    std::string paths;              ///< flow_paths.csv; empty: by ECMP
    std::string mode;               ///< overrides the scenario's
    std::string out;                ///< overrides the scenario's output folder
    std::vector<std::string> sets;  ///< "key=value"
    int threads = 1;
    bool check = false;      ///< with hpcc: reads the files and says what is in them
    bool no_skip = false;    ///< hybrid mode: all else on, nothing is skipped
    bool allow_oom = false;  ///< jobs that do not fit their GPUs: a warning, not an error
    bool quiet = false;
};

int run_command(const RunOptions& options);

struct CompareOptions {
    std::string scenario;           ///< SCENARIO.toml
    std::string modes;              ///< "packet,hybrid,..."; empty: all that this build offers
    std::string out;                ///< empty: runs/NAME-compare
    std::string json;               ///< a second place for compare.json; may be empty
    std::vector<std::string> sets;  ///< "key=value"
    std::size_t repeat = 1;         ///< runs of each mode
    bool quiet = false;
};

int compare_command(const CompareOptions& options);

struct DescribeOptions {
    std::string scenario;           ///< SCENARIO.toml
    std::vector<std::string> sets;  ///< "key=value"
    std::string flows;              ///< where to write an HPCC flow.txt; empty: nowhere
    std::string topology;           ///< where to write the topology.txt; empty: nowhere
    bool allow_oom = false;         ///< jobs that do not fit their GPUs: a warning, not an error
};

/// What would run, without running it.
int describe_command(const DescribeOptions& options);

struct TopoOptions {
    std::string type;  ///< empty with file
    std::string file;  ///< a topology.txt, in place of a type and its keys
    /// Keys and values of a scenario's [topology] table.
    std::vector<std::pair<std::string, std::string>> settings;
    std::string output;  ///< the topology.txt to write; empty: counts only
    std::string format;  ///< of the output: "hpcc", "simai"; empty: what the network needs
    bool check = false;  ///< of the file: says what was read, skipped and does not fit
};

int topo_command(const TopoOptions& options);

/// `sluice simai`: SimAI's programs by their own options.
Command add_simai_command(CLI::App& program);
/// `sluice workload`: workload files of other tools, from models.
Command add_workload_command(CLI::App& program);
Command add_collective_command(CLI::App& program);

}  // namespace sluice
