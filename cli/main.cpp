// SPDX-License-Identifier: Apache-2.0
/// The command line: what may be typed, and how it ends. 0 done; 2 bad input, with one line on
/// standard error; 3 a run that came to rest with work left; 70 a defect of the program; 74 standard
/// output cannot be written; 130 interrupted, partial results kept.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/text/printable.h"
#include "experiment/version.h"

/// What jemalloc is told before main(), where it is linked in: huge pages. A network of thousands of hosts has more small
/// pages than a processor can keep the addresses of (docs/performance.md).
extern "C" const char* malloc_conf;  // NOLINT(readability-identifier-naming)
const char* malloc_conf = "thp:always";

namespace {

/// One line whatever the message holds: a file's name may contain a line break.
int complain(int code, const std::string& message) {
    sluice::print_error("sluice: {}\n", sluice::printable_line(message));
    return code;
}

/// What else is to be said when something went wrong: names of files that begin at no folder mean nothing.
std::string working_folder() {
    std::error_code error;
    static_cast<void>(std::filesystem::current_path(error));
    return error ? " (the working folder has been removed; change to one that is there)" : "";
}

int run(int argc, char** argv) {
    sluice::ProgramLine program(
        "sluice", "Sluice simulates the networks of training clusters, packet by packet.",
        sluice::program_version());
#define SLUICE_ADD_COMMAND(name) sluice::add_##name##_command(program.line()),
    const std::vector<sluice::Command> commands = {SLUICE_COMMANDS(SLUICE_ADD_COMMAND)};
#undef SLUICE_ADD_COMMAND

    sluice::ParseEnd end;
    if (!program.parse(argc, argv, end)) {
        if (!end.refusal.empty()) return complain(end.code, end.refusal);
        sluice::print_text(end.help);
        return end.code;
    }
    for (const sluice::Command& command : commands) {
        if (command.app.parsed()) return command.run();
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
