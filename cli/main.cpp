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
#include "cli/interrupt.h"
#include "core/error.h"
#include "experiment/version.h"

namespace {

/// One line whatever the message holds: a file's name may contain a line break.
int complain(int code, std::string message) {
    std::replace_if(
        message.begin(), message.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    fmt::print(stderr, "sluice: {}\n", message);
    return code;
}

int run(int argc, char** argv) {
    CLI::App app{"Sluice simulates the networks of training clusters, packet by packet.", "sluice"};
    app.set_version_flag("--version", sluice::program_version());
    app.require_subcommand(1);

#define SLUICE_ADD_COMMAND(name) sluice::add_##name##_command(app),
    const std::vector<sluice::Command> commands = {SLUICE_COMMANDS(SLUICE_ADD_COMMAND)};
#undef SLUICE_ADD_COMMAND

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
    throw sluice::InternalError("a sub-command that is not in the list");
}

}  // namespace

int main(int argc, char** argv) {
    sluice::handle_signals();
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
