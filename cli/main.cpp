// SPDX-License-Identifier: Apache-2.0
/// The command line: what may be typed, and how it ends. 0 done; 2 bad input, with one line on
/// standard error; 3 a run that came to rest with work left; 70 a defect of the program; 74 standard
/// output cannot be written; 130 interrupted, partial results kept.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/text/config_value.h"
#include "core/text/printable.h"
#include "experiment/version.h"

namespace {

/// One line whatever the message holds: a file's name may contain a line break.
int complain(int code, const std::string& message) {
    sluice::print_error("sluice: {}\n", sluice::printable_line(message));
    return code;
}

/// What the option parser says of a command line that it does not take, but for a command that is not
/// there: it would only say that one is needed.
std::string refusal_of(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    const std::vector<std::string> words = at->remaining();
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !words.empty() &&
        words.front().compare(0, 1, "-") != 0 && at->get_require_subcommand_min() > 0) {
        std::vector<std::string> known;
        std::string allowed;
        for (const CLI::App* command : at->get_subcommands({})) {
            known.push_back(command->get_name());
            allowed += (allowed.empty() ? "" : ", ") + known.back();
        }
        const std::string nearest = sluice::nearest_word(words.front(), known);
        return sluice::shown_text(words.front()) + " is no command of " + at->get_name() +
               "; must be one of " + allowed +
               (nearest.empty() ? "" : " (nearest: " + nearest + ")");
    }
    return std::string(error.what()) + " (sluice --help shows what is allowed)";
}

/// What else is to be said when something went wrong: names of files that begin at no folder mean nothing.
std::string working_folder() {
    std::error_code error;
    static_cast<void>(std::filesystem::current_path(error));
    return error ? " (the working folder has been removed; change to one that is there)" : "";
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
        std::ostringstream help;
        const int code = app.exit(success, help, help);
        sluice::print_text(help.str());
        return code;
    } catch (const CLI::ParseError& error) {
        return complain(sluice::kExitBadInput, refusal_of(app, error));
    }
    for (const sluice::Command& command : commands) {
        if (command.app->parsed()) return command.run();
    }
    throw sluice::InternalError("a sub-command that is not in the list");
}

}  // namespace

int main(int argc, char** argv) {
    sluice::open_standard_streams();
    sluice::handle_signals();
    // The kernel's banner would be the only thing that a quiet run prints.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    try {
        const int code = run(argc, argv);
        sluice::flush_output();
        return code;
    } catch (const sluice::PrintError& error) {
        // Whoever read it has gone, and knows.
        if (!error.unread()) complain(sluice::kExitUnwritable, error.what());
        return sluice::kExitUnwritable;
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(sluice::kExitBadInput,
                        error.path1().string() + ": " + error.code().message() + working_folder());
    } catch (const sluice::ConfigError& error) {
        return complain(sluice::kExitBadInput, error.what() + working_folder());
    } catch (const std::bad_alloc&) {
        return complain(sluice::kExitBadInput, "out of memory: the experiment is too large");
    } catch (const std::exception& error) {
        return complain(sluice::kExitInternal, std::string("internal error: ") + error.what());
    }
}
