// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

#include "core/text/config_value.h"
#include "core/text/printable.h"
#include "experiment/exit_codes.h"

namespace sluice {

CommandOption& CommandOption::type_name(const std::string& name) {
    option_->type_name(name);
    return *this;
}

CommandOption& CommandOption::required() {
    option_->required();
    return *this;
}

CommandOption& CommandOption::one_of(const std::vector<std::string>& words) {
    option_->check(CLI::IsMember(words));
    return *this;
}

CommandOption& CommandOption::offers(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
    option_->check(CLI::Validator([](std::string&) { return std::string(); }, "{" + list + "}"));
    return *this;
}

CommandOption& CommandOption::range(int least, int most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

CommandOption& CommandOption::range(double least, double most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

CommandOption& CommandOption::not_negative() {
    option_->check(CLI::NonNegativeNumber);
    return *this;
}

CommandOption& CommandOption::excludes(const CommandOption& other) {
    option_->excludes(other.option_);
    return *this;
}

CommandOption& CommandOption::needs(const CommandOption& other) {
    option_->needs(other.option_);
    return *this;
}

CommandOption& CommandOption::one_value_each() {
    option_->type_size(1)->allow_extra_args(false);
    return *this;
}

CommandOption& CommandOption::hidden() {
    option_->group("");
    return *this;
}

CommandOption& CommandOption::show_default() {
    option_->capture_default_str();
    return *this;
}

CommandLine CommandLine::add_subcommand(const std::string& name, const std::string& text) {
    return CommandLine(app_->add_subcommand(name, text));
}

template <class T>
CommandOption CommandLine::add_option(const std::string& name, T& variable,
                                      const std::string& text) {
    CLI::Option* const option = app_->add_option(name, variable, text);
    // Most likely a script's unset variable. It would pass for an option that was not given.
    if constexpr (std::is_same_v<T, std::string>) {
        option->check([](const std::string& value) {
            return value.empty() ? std::string("must not be empty") : std::string();
        });
    }
    return CommandOption(option);
}

// Types of options' variables.
#define SLUICE_OPTION_TYPE(...)                                                      \
    template CommandOption CommandLine::add_option(const std::string&, __VA_ARGS__&, \
                                                   const std::string&);
SLUICE_OPTION_TYPE(int)
SLUICE_OPTION_TYPE(std::int64_t)
SLUICE_OPTION_TYPE(std::uint32_t)
SLUICE_OPTION_TYPE(std::uint64_t)
SLUICE_OPTION_TYPE(double)
SLUICE_OPTION_TYPE(std::string)
SLUICE_OPTION_TYPE(std::vector<std::string>)
SLUICE_OPTION_TYPE(std::optional<double>)
SLUICE_OPTION_TYPE(std::optional<std::size_t>)
SLUICE_OPTION_TYPE(std::optional<std::string>)
#undef SLUICE_OPTION_TYPE

CommandOption CommandLine::add_option_for(const std::string& name,
                                          std::function<void(const std::string&)> take,
                                          const std::string& text) {
    return CommandOption(app_->add_option_function<std::string>(name, std::move(take), text));
}

CommandOption CommandLine::add_flag(const std::string& name, bool& variable,
                                    const std::string& text) {
    return CommandOption(app_->add_flag(name, variable, text));
}

void CommandLine::require_subcommand() { app_->require_subcommand(1); }

void CommandLine::allow_extras() { app_->allow_extras(); }

void CommandLine::take_all_words() { app_->prefix_command(); }

void CommandLine::footer(const std::string& text) { app_->footer(text); }

bool CommandLine::parsed() const { return app_->parsed(); }

std::vector<std::string> CommandLine::remaining() const { return app_->remaining(); }

std::string CommandLine::help() const { return app_->help(); }

namespace {

/// "MODE:{packet,flow}": the name, and the words that it may be.
void split_type(const std::string& type, OptionText& option) {
    const std::size_t colon = type.find(":{");
    option.value = type.substr(0, type.find(':'));
    if (colon == std::string::npos || type.back() != '}') return;
    std::istringstream words(type.substr(colon + 2, type.size() - colon - 3));
    for (std::string word; std::getline(words, word, ',');) option.words.push_back(word);
}

OptionText described_option(const CLI::Option& option) {
    OptionText text;
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0) split_type(option.get_type_name(), text);
    if (text.names.empty() && text.value == "TEXT") text.value = option.get_name(true);
    text.text = option.get_description();
    text.required = option.get_required();
    return text;
}

CommandText described_command(const CLI::App& app) {
    CommandText text{app.get_name(), app.get_description(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (!option->get_group().empty()) text.options.push_back(described_option(*option));
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        text.commands.push_back(described_command(*command));
    }
    return text;
}

}  // namespace

CommandText CommandLine::described() const { return described_command(*app_); }

namespace {

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
        const std::string nearest = nearest_word(words.front(), known);
        return shown_text(words.front()) + " is not a command of " + at->get_name() +
               "; must be one of " + allowed +
               (nearest.empty() ? "" : " (nearest: " + nearest + ")");
    }
    return std::string(error.what()) + " (sluice --help shows what is allowed)";
}

}  // namespace

ProgramLine::ProgramLine(const char* name, const char* text, const std::string& version)
    : app_(std::make_unique<CLI::App>(text, name)) {
    app_->set_version_flag("--version", version);
    app_->require_subcommand(1);
}

ProgramLine::~ProgramLine() = default;

bool ProgramLine::parse(int argc, char** argv, ParseEnd& end) {
    try {
        app_->parse(argc, argv);
    } catch (const CLI::Success& success) {
        std::ostringstream help;
        end.code = app_->exit(success, help, help);
        end.help = help.str();
        return false;
    } catch (const CLI::ParseError& error) {
        end.code = kExitBadInput;
        end.refusal = refusal_of(*app_, error);
        return false;
    }
    return true;
}

}  // namespace sluice
