// SPDX-License-Identifier: Apache-2.0
/// Options of commands, for the files that have them. CLI11 reads the words; only command_line.cpp includes it,
/// as its headers cost every file that does ten seconds of compilation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace sluice {

/// An option as --help tells it.
struct OptionText {
    std::vector<std::string> names;  ///< "-o", "--output"; empty: its place says what it is
    std::string value;               ///< what its value is called; "": a flag
    std::vector<std::string> words;  ///< that its value may be; empty: others
    std::string text;
    bool required = false;
};

/// A command as --help tells it, with all below it.
struct CommandText {
    std::string name;
    std::string text;
    std::vector<OptionText> options;
    std::vector<CommandText> commands;
};

/// An option that a command has; what its value may be is said by calls one behind the other.
class CommandOption {
  public:
    explicit CommandOption(CLI::Option* option) : option_(option) {}

    /// What --help calls its value.
    CommandOption& type_name(const std::string& name);
    CommandOption& required();
    CommandOption& one_of(const std::vector<std::string>& words);
    /// Words that --help and completion name; what else it may be, and what is refused, its reader knows.
    CommandOption& offers(const std::vector<std::string>& words);
    CommandOption& range(int least, int most);
    CommandOption& range(double least, double most);
    CommandOption& not_negative();
    CommandOption& excludes(const CommandOption& other);
    CommandOption& needs(const CommandOption& other);
    /// Of a list: one value for each time that the option is given.
    CommandOption& one_value_each();
    /// --help does not list it.
    CommandOption& hidden();
    /// --help shows what the variable holds.
    CommandOption& show_default();

  private:
    CLI::Option* option_;
};

/// A command's options and sub-commands. A handle: copies are the same command.
class CommandLine {
  public:
    explicit CommandLine(CLI::App* app) : app_(app) {}

    CommandLine add_subcommand(const std::string& name, const std::string& text);
    /// `name`: "-o,--output"; without dashes the option is positional. T is one of those that command_line.cpp lists.
    template <class T>
    CommandOption add_option(const std::string& name, T& variable, const std::string& text);
    /// `take` is called with its value.
    CommandOption add_option_for(const std::string& name,
                                 std::function<void(const std::string&)> take,
                                 const std::string& text);
    CommandOption add_flag(const std::string& name, bool& variable, const std::string& text);
    void require_subcommand();
    /// Words that are no option of the command are left in remaining().
    void allow_extras();
    /// All words behind the command's name are left in remaining().
    void take_all_words();
    void footer(const std::string& text);

    /// The command was typed.
    bool parsed() const;
    std::vector<std::string> remaining() const;
    std::string help() const;
    /// All that is listed by --help, here and below.
    CommandText described() const;

  private:
    CLI::App* app_;
};

/// How reading a command line has ended where nothing is to be run.
struct ParseEnd {
    int code = 0;
    std::string help;     ///< for standard output
    std::string refusal;  ///< what is wrong with the line
};

/// The program's whole command line.
class ProgramLine {
  public:
    ProgramLine(const char* name, const char* text, const std::string& version);
    ~ProgramLine();
    ProgramLine(const ProgramLine&) = delete;
    ProgramLine& operator=(const ProgramLine&) = delete;

    CommandLine line() const { return CommandLine(app_.get()); }
    /// True: the line is good, and one command was typed.
    bool parse(int argc, char** argv, ParseEnd& end);

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace sluice
