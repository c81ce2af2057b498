// SPDX-License-Identifier: Apache-2.0
#include "cli/child_run.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/interrupt.h"
#include "core/error.h"
#include "experiment/exit_codes.h"

namespace sluice {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(10);
constexpr int kNotStarted = 127;  ///< as a shell says it

/// In the child: only calls that are allowed between fork and exec. SIGINT is blocked on entry.
[[noreturn]] void become(char* const* arguments, pid_t parent, const sigset_t& mask) {
    // This program's handler would note an interrupt that exec forgets.
    struct sigaction action {};
    sigaction(SIGINT, nullptr, &action);
    if (action.sa_handler != SIG_IGN) signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    // Out of the terminal's foreground group, whose members all get its Ctrl-C: with the one that
    // is passed on it would be the second, which ends a run at once.
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);  // progress may still be shown there
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kNotStarted);
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) _exit(kNotStarted);
    close(nowhere);
    execv("/proc/self/exe", arguments);
    _exit(kNotStarted);
}

}  // namespace

int run_this_program(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"sluice"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    const pid_t parent = getpid();
    sigset_t interrupt;
    sigset_t mask;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &mask);
    const pid_t child = fork();
    if (child == 0) become(pointers.data(), parent, mask);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (child < 0) {
        throw ConfigError(std::string("cannot start another process: ") + std::strerror(errno));
    }

    bool passed_on = false;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (InterruptGuard::requested() && !passed_on) {
            kill(child, SIGINT);
            passed_on = true;
        }
        std::this_thread::sleep_for(kPoll);
    }
    // It came before the child had a say in it.
    if (WIFSIGNALED(status) && passed_on && WTERMSIG(status) == SIGINT) return kExitInterrupted;
    if (WIFSIGNALED(status)) {
        throw InternalError(std::string("a run was ended by a signal: ") +
                            strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == kNotStarted) {
        throw ConfigError("cannot start this program again from /proc/self/exe");
    }
    return WEXITSTATUS(status);
}

}  // namespace sluice
