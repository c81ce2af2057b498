// SPDX-License-Identifier: Apache-2.0
/// Trials as runs of a shell command: another simulator, a testbed, any program.
///
/// A trial has a folder of its own, SCRATCH/CANDIDATE-TRIAL, empty when it begins. In it are `out`, which {out} stands
/// for, and `log.txt`, what the command says on standard output and standard error. It goes away with the trial,
/// unless that failed. The command has no standard input, runs in the current folder and in a process group of its
/// own. When the command has ended, or is not to go on, whoever is left of the group is ended, too: by SIGTERM, after
/// two seconds by SIGKILL. If this process is killed the shell is killed with it, but not what the shell had started.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/results/output_folder.h"
#include "eval/executor/executor.h"

namespace sluice::eval {

struct CommandSettings {
    /// For /bin/sh, with placeholders: {seed}, {trial}, {out} (an absolute path) and {KEY} for each of a candidate's
    /// values. What they stand for is put in as it is, and may hold nothing that a shell
    /// reads: letters, digits and _./:=,+@%^- only. {{ and }} are braces.
    std::string command;
    std::vector<std::map<std::string, std::string>>
        candidates;                                   ///< KEY -> text; empty: one without values
    enum class Reader : std::uint8_t { fct, table };  ///< readers.h
    Reader reader = Reader::table;
    std::string
        result;  ///< the file that is read, within the folder {out}; empty: {out} itself is that file
    double timeout_s = 0;  ///< of wall-clock time; 0: none
    std::string scratch;   ///< made by the first trial; empty: only command_of() is asked for
};

class CommandExecutor final : public Executor {
  public:
    /// ConfigError: a placeholder that a candidate has no value for, and other settings that cannot be.
    explicit CommandExecutor(CommandSettings settings);
    ~CommandExecutor() override;

    /// A trial fails by an exit code other than 0, a signal, the timeout, or a result that cannot be read; its reason
    /// ends with the last line that the command said. record.cpu_s is of all processes that were waited for.
    /// ConfigError: the scratch folder cannot be made.
    TrialResult run(const TrialRequest& request, const GoOn& go_on) override;
    bool may_recover() const override { return true; }

    std::string by_itself(const TrialRequest& request) const override;
    /// What the shell gets.
    std::string command_of(const TrialRequest& request) const;

  private:
    /// Of the command: text as it is, or the name of a placeholder.
    struct Piece {
        bool placeholder = false;
        std::string text;
    };

    static std::vector<Piece> pieces_of(const std::string& command);
    void check_placeholders() const;
    std::string folder_of(const TrialRequest& request) const;
    void make_scratch();
    TrialRecord read_result(const std::string& out) const;
    /// Of a command that ended by itself, with wait()'s status.
    TrialResult outcome(int status, const std::string& out, const std::string& log) const;

    CommandSettings settings_;
    std::vector<Piece> pieces_;
    std::mutex making_;
    std::optional<OutputFolder> scratch_;
};

}  // namespace sluice::eval
