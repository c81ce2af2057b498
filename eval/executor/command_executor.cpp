// SPDX-License-Identifier: Apache-2.0
#include "eval/executor/command_executor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/config_value.h"
#include "core/text/printable.h"
#include "core/text/shell.h"
#include "eval/executor/readers.h"

namespace sluice::eval {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kGrace = std::chrono::seconds(2);  ///< from SIGTERM to SIGKILL
constexpr int kNotStarted = 127;                  ///< as a shell says it
constexpr const char* kOut = "out";

/// In the child, with all signals blocked: only calls that are allowed between fork and exec, as another thread
/// may have held any lock.
[[noreturn]] void become(char* const* arguments, int log, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kNotStarted);
    // This program's handlers must not run here; what it was told to ignore stays ignored, as by nohup.
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (sigaction(signal, nullptr, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN && signal != SIGPIPE) continue;
        action = {};
        sigaction(signal, &action, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const bool told = dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0 &&
                      fcntl(STDOUT_FILENO, F_SETFD, 0) == 0 &&
                      fcntl(STDERR_FILENO, F_SETFD, 0) == 0;
    const int nothing = open("/dev/null", O_RDONLY);
    if (!told || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(kNotStarted);
#ifdef SYS_close_range
    // Files of this program, locks among them, are none of the command's.
    syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, 0U);
#endif
    execve("/bin/sh", arguments, environ);
    constexpr char kMessage[] = "cannot start /bin/sh\n";
    static_cast<void>(!write(STDERR_FILENO, kMessage, sizeof kMessage - 1));
    _exit(kNotStarted);
}

/// A command and all processes of its group, none of which outlives it.
class Command {
  public:
    /// errno in error() if it could not be started.
    Command(std::string command, int log);
    ~Command() { stop(); }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    int error() const { return error_; }
    /// Whether the shell has ended.
    bool ended();
    /// Ends what there still is.
    void stop();

    int status() const { return status_; }  ///< wait()'s
    double cpu_s() const { return cpu_s_; }

  private:
    void wait(int options);

    pid_t shell_ = -1;
    int error_ = 0;
    bool reaped_ = true;
    bool gone_ = true;
    int status_ = 0;
    double cpu_s_ = 0;
};

Command::Command(std::string command, int log) {
    std::string words[] = {"sh", "-c", std::move(command)};
    char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const pid_t parent = getpid();
    sigset_t all;
    sigset_t mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    shell_ = fork();
    if (shell_ == 0) become(arguments, log, parent);
    error_ = shell_ < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    if (shell_ < 0) return;
    setpgid(shell_, shell_);  // whichever of the two comes first
    reaped_ = gone_ = false;
}

void Command::wait(int options) {
    if (reaped_) return;
    rusage usage{};
    pid_t done = 0;
    do {
        done = wait4(shell_, &status_, options, &usage);
    } while (done < 0 && errno == EINTR);
    if (done == 0) return;
    reaped_ = true;
    if (done < 0) error_ = errno;
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    cpu_s_ = seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool Command::ended() {
    wait(WNOHANG);
    return reaped_;
}

void Command::stop() {
    if (gone_) return;
    // A group's number is not given to anybody else while it has members, and it is not asked again when it has none.
    const auto none_left = [this] {
        wait(WNOHANG);
        if (!reaped_) return false;
        // In a container this program may be the one that all orphans fall to.
        while (waitpid(-shell_, nullptr, WNOHANG) > 0) continue;
        return kill(-shell_, 0) != 0;
    };
    const Clock::time_point deadline = Clock::now() + kGrace;
    if (!none_left()) {
        kill(-shell_, SIGTERM);
        bool left = true;
        while (left && Clock::now() < deadline) {
            std::this_thread::sleep_for(kPoll);
            left = !none_left();
        }
        if (left) kill(-shell_, SIGKILL);
    }
    wait(0);
    gone_ = true;
}

/// The last line that is not empty, for a message.
std::string last_line(const std::string& path) {
    constexpr std::streamoff kMost = 4096;
    constexpr std::size_t kShown = 200;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
    std::string text(static_cast<std::size_t>(std::clamp<std::streamoff>(size, 0, kMost)), '\0');
    file.seekg(size - static_cast<std::streamoff>(text.size()));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    constexpr const char* kSpace = " \t\r\n";
    text.erase(text.find_last_not_of(kSpace) + 1);
    const std::size_t end = text.find_last_of("\r\n");
    return shortened(printable_line(end == text.npos ? text : text.substr(end + 1)), kShown);
}

TrialResult failure(const std::string& reason) {
    TrialResult result;
    result.status = TrialResult::Status::failed;
    result.reason = printable_line(reason);
    return result;
}

/// `what` is wrong with a command that has run.
TrialResult failure(const std::string& what, const std::string& log) {
    const std::string line = last_line(log);
    return failure(line.empty() ? what + "; it said nothing"
                                : fmt::format("{}; {} ends with: {}", what, log, line));
}

std::string shown_status(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

enum class End : std::uint8_t { by_itself, interrupted, late };

/// Looks now and then whether it has ended, or is to.
End watch(Command& command, const Executor::GoOn& go_on, double timeout_s) {
    const Clock::time_point start = Clock::now();
    while (!command.ended()) {
        const std::chrono::duration<double> time = Clock::now() - start;
        if (go_on && !go_on()) return End::interrupted;
        if (timeout_s > 0 && time.count() >= timeout_s) return End::late;
        std::this_thread::sleep_for(kPoll);
    }
    return End::by_itself;
}

void check(const CommandSettings& settings) {
    if (settings.command.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw ConfigError("the command of trials is empty (allowed: what /bin/sh runs)");
    }
    if (!(settings.timeout_s >= 0) || std::isinf(settings.timeout_s)) {
        throw ConfigError(
            fmt::format("a timeout of {} s (allowed: 0, for none, and more)", settings.timeout_s));
    }
    const fs::path result = settings.result;
    if (result.is_absolute() || std::find(result.begin(), result.end(), "..") != result.end()) {
        throw ConfigError("the result " + shown_text(settings.result) +
                          " is not within {out} (allowed: a relative path without ..)");
    }
}

}  // namespace

CommandExecutor::CommandExecutor(CommandSettings settings)
    : settings_(std::move(settings)), pieces_(pieces_of(settings_.command)) {
    check(settings_);
    if (settings_.candidates.empty()) settings_.candidates.emplace_back();
    check_placeholders();
    if (!settings_.scratch.empty()) {
        settings_.scratch = fs::absolute(settings_.scratch).lexically_normal().string();
    }
}

CommandExecutor::~CommandExecutor() {
    if (scratch_) scratch_->remove_if_empty();
}

std::vector<CommandExecutor::Piece> CommandExecutor::pieces_of(const std::string& command) {
    std::vector<Piece> pieces(1);
    for (std::size_t at = 0; at < command.size(); ++at) {
        const char c = command[at];
        const bool twice = at + 1 < command.size() && command[at + 1] == c;
        if (twice && (c == '{' || c == '}')) {
            pieces.back().text += c;
            ++at;
        } else if (c == '{') {
            const std::size_t end = command.find_first_of("{}", at + 1);
            if (end == command.npos || command[end] == '{') {
                throw ConfigError("the command of trials has a { without its } at " +
                                  shown_text(command.substr(at)) + " (allowed: {{ for a brace)");
            }
            pieces.push_back({true, command.substr(at + 1, end - at - 1)});
            pieces.emplace_back();
            at = end;
        } else if (c == '}') {
            throw ConfigError("the command of trials has a } without its { at " +
                              shown_text(command.substr(at)) + " (allowed: }} for a brace)");
        } else {
            pieces.back().text += c;
        }
    }
    return pieces;
}

namespace {

/// What stands for a placeholder is put into a shell's command as it is.
void check_plain(const std::string& text, const std::string& what) {
    if (is_plain_word(text)) return;
    throw ConfigError(what + ", " + shown_text(text) +
                      ", goes into a shell's command (allowed: letters, digits and _./:=,+@%^-)");
}

}  // namespace

void CommandExecutor::check_placeholders() const {
    check_plain(settings_.scratch, "the folder of a command's trials");
    const std::string no_text(1, '\0');
    if (settings_.command.find(no_text) != std::string::npos) {
        throw ConfigError("the command of trials has a NUL (allowed: text)");
    }
    const std::vector<std::string> own = {"seed", "trial", "out"};
    for (const std::map<std::string, std::string>& values : settings_.candidates) {
        std::vector<std::string> known = own;
        std::string allowed = "{seed}, {trial}, {out}";
        for (const auto& [key, text] : values) {
            if (std::find(own.begin(), own.end(), key) != own.end()) {
                throw ConfigError("a candidate's value cannot be called " + shown_text(key) +
                                  " (allowed: names other than seed, trial and out)");
            }
            check_plain(text, "a candidate's value " + shown_text(key));
            known.push_back(key);
            allowed += ", {" + key + "}";
        }
        for (const Piece& piece : pieces_) {
            if (!piece.placeholder ||
                std::find(known.begin(), known.end(), piece.text) != known.end()) {
                continue;
            }
            throw ConfigError("the command of trials has an unknown placeholder " +
                              shown_text("{" + piece.text + "}") + " (allowed: " + allowed +
                              "; {{ and }} for braces)");
        }
    }
}

std::string CommandExecutor::folder_of(const TrialRequest& request) const {
    return (fs::path(settings_.scratch) / fmt::format("{}-{}", request.candidate, request.trial))
        .string();
}

std::string CommandExecutor::command_of(const TrialRequest& request) const {
    const std::map<std::string, std::string>& values = settings_.candidates.at(request.candidate);
    std::string command;
    for (const Piece& piece : pieces_) {
        if (!piece.placeholder) {
            command += piece.text;
        } else if (piece.text == "seed") {
            command += std::to_string(request.seed);
        } else if (piece.text == "trial") {
            command += std::to_string(request.trial);
        } else if (piece.text == "out") {
            command += (fs::path(folder_of(request)) / kOut).string();
        } else {
            command += values.at(piece.text);
        }
    }
    return command;
}

std::string CommandExecutor::by_itself(const TrialRequest& request) const {
    return "mkdir -p " + shell_word(folder_of(request)) + " && " + command_of(request);
}

void CommandExecutor::make_scratch() {
    if (settings_.scratch.empty()) {
        throw ConfigError("the command of trials has no scratch folder (allowed: a path)");
    }
    const std::lock_guard<std::mutex> lock(making_);
    if (!scratch_) scratch_.emplace(settings_.scratch);
}

TrialRecord CommandExecutor::read_result(const std::string& out) const {
    const std::string path =
        settings_.result.empty() ? out : (fs::path(out) / settings_.result).string();
    std::error_code error;
    // Whoever opens a pipe waits for somebody who writes.
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
        throw ConfigError(path, 0, "is not a regular file (allowed: that the command writes one)");
    }
    return settings_.reader == CommandSettings::Reader::fct ? read_fct(path) : read_table(path);
}

TrialResult CommandExecutor::outcome(int status, const std::string& out,
                                     const std::string& log) const {
    if (status != 0) return failure(shown_status(status), log);
    try {
        TrialResult result;
        result.record = read_result(out);
        return result;
    } catch (const ConfigError& error) {
        return failure(error.what(), log);
    }
}

TrialResult CommandExecutor::run(const TrialRequest& request, const GoOn& go_on) {
    make_scratch();
    const std::string folder = folder_of(request);
    const std::string out = (fs::path(folder) / kOut).string();
    const std::string log = (fs::path(folder) / "log.txt").string();
    std::error_code error;
    fs::remove_all(folder, error);
    if (!error) fs::create_directories(settings_.result.empty() ? folder : out, error);
    if (error) return failure(folder + ": cannot be made anew: " + error.message());
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return failure(log + ": cannot be written: " + std::strerror(errno));
    Command command(command_of(request), file);
    close(file);

    const End end = watch(command, go_on, settings_.timeout_s);
    command.stop();
    TrialResult result;
    if (command.error() != 0) {
        result = failure(std::string("its process was not started, or got lost: ") +
                         std::strerror(command.error()));
    } else if (end == End::interrupted) {
        result.status = TrialResult::Status::interrupted;
    } else if (end == End::late) {
        result =
            failure(fmt::format("stopped after {:g} s, its timeout", settings_.timeout_s), log);
    } else {
        result = outcome(command.status(), out, log);
    }
    result.record.cpu_s = command.cpu_s();
    if (result.status != TrialResult::Status::failed) fs::remove_all(folder, error);
    return result;
}

}  // namespace sluice::eval
