// SPDX-License-Identifier: Apache-2.0
/// `sluice completion`: what a shell needs to complete command lines, made from the table of commands.
#include <memory>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"

namespace sluice {

namespace {

/// For each place ("", "topo", "memo list") the words that may follow, and for each option with a value the words that it
/// may be; and whether a file may be there.
struct Places {
    std::string words;   ///< lines: 'memo list') offered='--help' files=yes;;
    std::string values;  ///< lines: 'batch --device') offered='cpu cuda' files=no;;
};

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

void collect(const CommandText& command, const std::string& path, Places& places) {
    std::vector<std::string> words;
    bool files = false;
    for (const CommandText& below : command.commands) words.push_back(below.name);
    for (const OptionText& option : command.options) {
        words.insert(words.end(), option.names.begin(), option.names.end());
        if (option.names.empty()) {
            words.insert(words.end(), option.words.begin(), option.words.end());
            files = files || option.words.empty();
        }
        if (option.value.empty()) continue;
        for (const std::string& name : option.names) {
            places.values += fmt::format("        '{} {}') offered='{}' files={};;\n", path, name,
                                         joined(option.words), option.words.empty() ? "yes" : "no");
        }
    }
    places.words += fmt::format("        '{}') offered='{}' files={};;\n", path, joined(words),
                                files ? "yes" : "no");
    for (const CommandText& below : command.commands) {
        collect(below, path.empty() ? below.name : path + " " + below.name, places);
    }
}

/// "run|topo|memo|memo list|": places that words lead to.
std::string commands_in(const CommandText& command, const std::string& path) {
    std::string text;
    for (const CommandText& below : command.commands) {
        const std::string place = path.empty() ? below.name : path + " " + below.name;
        text += place + "|" + commands_in(below, place);
    }
    return text;
}

std::string bash_script(const CommandText& program) {
    Places places;
    collect(program, "", places);
    return fmt::format(
        R"(# Completion of sluice for bash: source it, or put it into share/bash-completion/completions/sluice.
_sluice() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} place= next word offered= files=no
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
        next=${{place:+$place }}$word
        case '|{commands}' in *"|$next|"*) place=$next;; esac
    done
    COMPREPLY=()
    case "$place $previous" in
{values}        *) case $place in
{words}        esac;;
    esac
    COMPREPLY=($(compgen -W "$offered" -- "$current"))
    if [ "$files" = yes ] && [ "${{current#-}}" = "$current" ]; then
        local IFS=$'\n'
        COMPREPLY+=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
    fi
}}
complete -F _sluice sluice
)",
        fmt::arg("commands", commands_in(program, "")), fmt::arg("values", places.values),
        fmt::arg("words", places.words));
}

std::string zsh_script(const CommandText& program) {
    Places places;
    collect(program, "", places);
    return fmt::format(
        R"(#compdef sluice
# Completion of sluice for zsh: source it after compinit, or put it into a folder of $fpath as _sluice.
_sluice() {{
    local previous=$words[CURRENT-1] place= next word offered= files=no
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        next=${{place:+$place }}$word
        case '|{commands}' in *"|$next|"*) place=$next;; esac
    done
    case "$place $previous" in
{values}        *) case $place in
{words}        esac;;
    esac
    compadd -- ${{=offered}}
    if [[ $files = yes ]]; then _files; fi
}}
if [[ $funcstack[1] = _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
)",
        fmt::arg("commands", commands_in(program, "")), fmt::arg("values", places.values),
        fmt::arg("words", places.words));
}

}  // namespace

Command add_completion_command(CommandLine program) {
    const auto shell = std::make_shared<std::string>();
    CommandLine app = program.add_subcommand(
        "completion",
        "Print what bash or zsh need to complete command lines: source <(sluice completion bash)");
    app.add_option("shell", *shell, "bash or zsh").required().one_of({"bash", "zsh"});
    return {app, [program, shell] {
                const CommandText described = program.described();
                print_text(*shell == "bash" ? bash_script(described) : zsh_script(described));
                return kExitDone;
            }};
}

}  // namespace sluice
