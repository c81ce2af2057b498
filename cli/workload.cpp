// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include "cli/commands.h"
namespace sluice {
Command add_workload_command(CLI::App& program) {
    CLI::App* app = program.add_subcommand("workload", "Write workload files of other tools, from models");
    return {app, [] { return 0; }};
}
}
