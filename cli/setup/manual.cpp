// SPDX-License-Identifier: Apache-2.0
/// `sluice manual`: the man page sluice(1), made from the table of commands.
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "experiment/version.h"

namespace sluice {

namespace {

struct ExitCode {
    int code;
    const char* text;
};

constexpr ExitCode kExitCodes[] = {
    {kExitDone, "Done."},
    {kExitMissed, "Only with --check: a comparison found a bias."},
    {kExitBadInput, "Bad input, with one line on standard error."},
    {kExitWorkLeft,
     "Work is left that can never finish; of a batch: some experiments are not done."},
    {kExitInternal, "A defect of the program."},
    {kExitUnwritable, "Standard output cannot be written."},
    {kExitInterrupted, "Interrupted; results so far are kept."},
};

constexpr const char* kEnvironment =
    ".SH ENVIRONMENT\n"
    ".TP\n.B XDG_CACHE_HOME\nWhere the usual memo of mode wormhole is (default: ~/.cache).\n"
    ".TP\n.B NO_COLOR\nNothing is coloured, with it or without it.\n"
    ".TP\n.B SLUICE_TORCH_PLUGIN\nThe file of the libtorch module of sluice train.\n";

/// As roff takes it: no line begins with a control character, and dashes are dashes.
std::string roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
            out += std::string("\\&") + c;
        } else {
            out += c;
        }
    }
    return out;
}

std::string head_of(const OptionText& option) {
    std::string head;
    for (const std::string& name : option.names) {
        head += (head.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
    }
    if (!option.value.empty())
        head += (head.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
    return head;
}

void add_options(const CommandText& command, std::string& page) {
    for (const OptionText& option : command.options) {
        page += ".TP\n" + head_of(option) + "\n" + roff(option.text) + "\n";
        if (option.words.empty()) continue;
        std::string words;
        for (const std::string& word : option.words)
            words += (words.empty() ? "" : ", ") + roff(word);
        page += "One of: " + words + ".\n";
    }
}

void add_commands(const CommandText& command, const std::string& path, std::string& page) {
    for (const CommandText& below : command.commands) {
        const std::string name = path + " " + below.name;
        page += ".SS " + roff(name) + "\n" + roff(below.text) + "\n";
        add_options(below, page);
        add_commands(below, name, page);
    }
}

std::string man_page(const CommandText& program) {
    const std::string version = program_version();
    std::string page = fmt::format(
        ".TH SLUICE 1 \"\" \"sluice {}\" \"User Commands\"\n.SH NAME\nsluice \\- {}\n.SH SYNOPSIS\n"
        ".B sluice\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
        version.substr(0, version.find(' ')), "simulate the networks of training clusters",
        roff(program.text));
    add_options(program, page);
    page += ".SH COMMANDS\n";
    add_commands(program, program.name, page);
    page += ".SH EXIT STATUS\n";
    for (const ExitCode& code : kExitCodes)
        page += fmt::format(".TP\n.B {}\n{}\n", code.code, roff(code.text));
    return page + kEnvironment +
           ".SH SEE ALSO\nThe documentation is installed as share/doc/sluice/docs.\n";
}

}  // namespace

Command add_manual_command(CommandLine program) {
    CommandLine app =
        program.add_subcommand("manual", "Print the man page: sluice manual | man -l -");
    return {app, [program] {
                print_text(man_page(program.described()));
                return kExitDone;
            }};
}

}  // namespace sluice
