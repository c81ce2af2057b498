// SPDX-License-Identifier: Apache-2.0
#include "eval/executor/command_executor.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::eval;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Status = TrialResult::Status;
namespace fs = std::filesystem;

namespace {

CommandSettings settings_of(const test::TestFolder& folder, const std::string& command) {
    CommandSettings settings;
    settings.command = command;
    settings.scratch = folder.file("made/scratch");
    return settings;
}

TrialResult run(const CommandSettings& settings, const TrialRequest& request = {}) {
    CommandExecutor executor(settings);
    return executor.run(request, {});
}

/// The reason of a failure, with the folder of trials as "SCRATCH".
std::string reason_of(const CommandSettings& settings) {
    const TrialResult result = run(settings);
    CHECK(result.status == Status::failed);
    CHECK(result.reason.find('\n') == std::string::npos);
    CHECK(fs::exists(settings.scratch + "/0-0/log.txt"));
    std::string reason = result.reason;
    for (std::size_t at = 0; (at = reason.find(settings.scratch)) != reason.npos;) {
        reason.replace(at, settings.scratch.size(), "SCRATCH");
    }
    return reason;
}

std::string wrong(const std::string& command,
                  std::vector<std::map<std::string, std::string>> candidates = {}) {
    CommandSettings settings;
    settings.command = command;
    settings.candidates = std::move(candidates);
    return error_of([&] { const CommandExecutor executor(settings); });
}

/// A process that has ended, and waits for nobody but its parent, is not running.
bool running(const std::string& pid) {
    const std::string stat = test::read_bytes("/proc/" + pid + "/stat");
    const std::size_t name = stat.rfind(')');
    return name != stat.npos && stat.compare(name, 3, ") Z") != 0;
}

/// What a command writes into a file, when it has.
std::string awaited(const std::string& path) {
    const Clock::time_point give_up = Clock::now() + std::chrono::seconds(60);
    std::string text;
    while ((text.empty() || text.back() != '\n') && Clock::now() < give_up) {
        text = test::read_bytes(path);
    }
    return text.substr(0, text.find('\n'));
}

bool ends(const std::string& pid) {
    const Clock::time_point give_up = Clock::now() + std::chrono::seconds(60);
    while (running(pid) && Clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return !running(pid);
}

}  // namespace

TEST_CASE("unit.eval.command.a_trial_is_what_the_command_writes") {
    const test::TestFolder folder;
    CommandSettings settings = settings_of(
        folder,
        "printf 'seed,trial,rate\\n{seed},{trial},{a.rate}\\n' > {out}; echo said {{}} ${{HOME}}");
    settings.candidates = {{{"a.rate", "10"}, {"unused", "x"}}, {{"a.rate", "1e2"}}};
    {
        CommandExecutor executor(settings);
        CHECK(executor.may_recover());
        const TrialResult result = executor.run({1, 7, 1ULL << 53U}, [] { return true; });
        CHECK(result.status == Status::done);
        CHECK(result.reason.empty());
        CHECK(result.record.columns.at("seed") == std::vector<double>{9007199254740992});
        CHECK(result.record.columns.at("trial") == std::vector<double>{7});
        CHECK(result.record.columns.at("rate") == std::vector<double>{100});
        CHECK(result.record.length_s == 0);
        CHECK(fs::is_empty(settings.scratch));
        CHECK(executor.command_of({0, 2, 3}) == "printf 'seed,trial,rate\\n3,2,10\\n' > " +
                                                    settings.scratch +
                                                    "/0-2/out; echo said {} ${HOME}");
    }
    CHECK_FALSE(fs::exists(folder.file("made")));
}

TEST_CASE("unit.eval.command.a_result_in_a_folder") {
    const test::TestFolder folder;
    CommandSettings settings =
        settings_of(folder,
                    "test -d {out} && ls -A {out} | wc -l | grep -qx 0 && cd {out} && mkdir sub && "
                    "echo 0b000001 0b000101 10000 100 50000 2000000000 9000 4501 > sub/fct.txt");
    settings.reader = CommandSettings::Reader::fct;
    settings.result = "sub/fct.txt";
    // What was left there is gone when the trial begins.
    fs::create_directories(settings.scratch + "/0-3/out/sub");
    test::write_bytes(settings.scratch + "/0-3/out/sub/fct.txt", "old");
    const TrialResult result = run(settings, {0, 3, 0});
    CHECK(result.reason.empty());
    REQUIRE(result.record.flows.size() == 1);
    CHECK(result.record.flows[0].time_s == 9e-6);
    CHECK_FALSE(fs::exists(settings.scratch + "/0-3"));
}

TEST_CASE("unit.eval.command.failures_say_why") {
    const test::TestFolder folder;
    const std::string log = "; SCRATCH/0-0/log.txt ends with: ";
    CHECK(reason_of(settings_of(folder,
                                "echo one; echo 'two \x1b[31m'  >&2; printf '\\n \\n'; exit 3")) ==
          "exit code 3" + log + "two \\x1b[31m");
    CHECK(reason_of(settings_of(folder, "exit 1")) == "exit code 1; it said nothing");
    CHECK(reason_of(settings_of(folder, "kill -9 $$")) ==
          "ended by signal 9 (Killed); it said nothing");
    CHECK(reason_of(settings_of(folder, "no-such-program-here")).find("exit code 127" + log) == 0);
    CHECK(reason_of(settings_of(folder, "echo ran")) ==
          "SCRATCH/0-0/out: no such file" + log + "ran");
    CHECK(reason_of(settings_of(folder, "echo x > {out}")) ==
          "SCRATCH/0-0/out:1: no row follows the names (allowed: one or more); it said nothing");
    CHECK(reason_of(settings_of(folder, "mkdir {out}")).find("is not a regular file") !=
          std::string::npos);
    CHECK(reason_of(settings_of(folder, "mkfifo {out}")).find("is not a regular file") !=
          std::string::npos);
    CommandSettings result = settings_of(folder, "true");
    result.result = "flows.csv";
    CHECK(reason_of(result) == "SCRATCH/0-0/out/flows.csv: no such file; it said nothing");
    // A line without end is shown in part.
    const std::string reason =
        reason_of(settings_of(folder, "head -c 1000000 /dev/zero | tr '\\0' x; exit 4"));
    CHECK(reason.find("exit code 4" + log + "xxx") == 0);
    CHECK(reason.size() < 300);
    // Another attempt may succeed, and takes away what the failed one left.
    CHECK(run(settings_of(folder, "echo 1 > {out}")).status == Status::done);
    CHECK_FALSE(fs::exists(folder.file("made/scratch/0-0")));
}

TEST_CASE("unit.eval.command.timeout_ends_the_whole_group") {
    const test::TestFolder folder;
    CommandSettings settings =
        settings_of(folder, "sleep 600 & echo $! > {pids}; sleep 600; echo done");
    settings.candidates = {{{"pids", folder.file("pids")}}};
    settings.timeout_s = 2;  // time for a shell to begin, on a busy machine, too
    const Clock::time_point start = Clock::now();
    CHECK(reason_of(settings) == "stopped after 2 s, its timeout; it said nothing");
    CHECK(Seconds(Clock::now() - start).count() >= 2);
    CHECK(Seconds(Clock::now() - start).count() < 600);  // what it would have slept
    CHECK(ends(awaited(folder.file("pids"))));
}

TEST_CASE("unit.eval.command.interrupt_kills_what_ignores_sigterm") {
    const test::TestFolder folder;
    CommandSettings settings =
        settings_of(folder, "trap '' TERM; echo $$ > {pids}; while :; do sleep 1; done");
    settings.candidates = {{{"pids", folder.file("pids")}}};
    CommandExecutor executor(settings);
    Clock::time_point asked;
    const TrialResult result = executor.run({}, [&] {
        asked = Clock::now();
        return awaited(folder.file("pids")).empty();
    });
    CHECK(result.status == Status::interrupted);
    CHECK(Seconds(Clock::now() - asked).count() >= 2);
    CHECK(ends(awaited(folder.file("pids"))));
    CHECK(fs::is_empty(settings.scratch));
}

TEST_CASE("unit.eval.command.an_interrupted_command_may_tidy_up") {
    // The shell ends by SIGTERM at once, what it waits for does not.
    const test::TestFolder folder;
    CommandSettings settings =
        settings_of(folder,
                    "sh -c \"trap 'sleep 0.3; echo tidy > {tidy}; exit' TERM; echo up > {up}; "
                    "while :; do sleep 0.01; done\"; :");
    settings.candidates = {{{"up", folder.file("up")}, {"tidy", folder.file("tidy")}}};
    CommandExecutor executor(settings);
    const TrialResult result = executor.run({}, [&] { return awaited(folder.file("up")).empty(); });
    CHECK(result.status == Status::interrupted);
    CHECK(test::read_bytes(folder.file("tidy")) == "tidy\n");
}

TEST_CASE("unit.eval.command.nothing_runs_on_after_the_command") {
    const test::TestFolder folder;
    CommandSettings settings = settings_of(folder, "sleep 600 & echo $! > {pids}; echo 1 > {out}");
    settings.candidates = {{{"pids", folder.file("pids")}}};
    CHECK(run(settings).status == Status::done);
    CHECK(ends(awaited(folder.file("pids"))));
    // Nor if who asks whether to go on throws.
    settings.command = "echo $$ > {pids}; exec sleep 600";
    fs::remove(folder.file("pids"));
    CommandExecutor executor(settings);
    CHECK_THROWS_AS(executor.run({},
                                 [&]() -> bool {
                                     awaited(folder.file("pids"));
                                     throw 1;
                                 }),
                    int);
    CHECK(ends(awaited(folder.file("pids"))));
}

TEST_CASE("unit.eval.command.dies_with_this_process") {
    const test::TestFolder folder;
    CommandSettings settings = settings_of(folder, "echo $$ > {pids}; exec sleep 600");
    settings.candidates = {{{"pids", folder.file("pids")}}};
    const pid_t other = fork();
    if (other == 0) {
        CommandExecutor executor(settings);
        executor.run({}, {});
        _exit(0);
    }
    const std::string shell = awaited(folder.file("pids"));
    CHECK(running(shell));
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    CHECK(ends(shell));
}

TEST_CASE("unit.eval.command.starts_with_nothing_of_this_process") {
    // No input, no open files, no blocked or ignored signals (SigBlk, SigIgn of /proc), a group of its own.
    const test::TestFolder folder;
    const int kept = open("/dev/null", O_RDONLY);
    const auto before = signal(SIGPIPE, SIG_IGN);
    sigset_t block;
    sigset_t mask;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &block, &mask);
    const CommandSettings settings =
        settings_of(folder, "read line && exit 5; test -e /proc/$$/fd/" + std::to_string(kept) +
                                " && exit 6; grep -q 'SigBlk:.0*$' /proc/self/status || exit 7; "
                                "kill -PIPE $$; exit 8");
    CHECK(reason_of(settings).find("ended by signal 13 ") == 0);
    CHECK(reason_of(settings_of(folder, "kill -TERM $$; exit 8")).find("ended by signal 15 ") == 0);
    CHECK(reason_of(settings_of(folder, "test $(ps -o pgid= -p $$) -eq $$ && exit 9"))
              .find("exit code 9") == 0);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    signal(SIGPIPE, before);
    close(kept);
}

TEST_CASE("unit.eval.command.cpu_time") {
    const test::TestFolder folder;
    const TrialResult result = run(settings_of(
        folder, "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo 1 > {out}"));
    CHECK(result.status == Status::done);
    CHECK(result.record.cpu_s > 0.01);
    CHECK(run(settings_of(folder, "sleep 0.2; echo 1 > {out}")).record.cpu_s < 0.2);
}

TEST_CASE("unit.eval.command.many_at_once") {
    const test::TestFolder folder;
    CommandExecutor executor(settings_of(folder, "echo {trial} > {out}; sleep 0.1"));
    std::vector<double> values(16);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < values.size(); ++i) {
        threads.emplace_back([&, i] {
            const TrialResult result = executor.run({0, i, 0}, {});
            if (result.status == Status::done) values[i] = result.record.columns.at("value").at(0);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == static_cast<double>(i));
}

TEST_CASE("unit.eval.command.placeholders") {
    CHECK(wrong("run {seed} {trial} {out} {rate}", {{{"rate", "1"}}}) == "no error");
    CHECK(wrong("run {{rate}} {{{seed}}}") == "no error");
    CHECK(wrong("run {rate}", {{{"rate", "1"}}, {{"n", "2"}, {"rat", "3"}}}) ==
          "the command of trials has an unknown placeholder \"{rate}\" (allowed: {seed}, {trial}, "
          "{out}, {n}, {rat}; {{ and }} for braces)");
    CHECK(wrong("awk '{print $1}'").find("unknown placeholder \"{print $1}\" (allowed: {seed}, ") !=
          std::string::npos);
    CHECK(wrong("x {}").find("unknown placeholder \"{}\"") != std::string::npos);
    CHECK(wrong("x {seed").find("a { without its } at \"{seed\" (allowed: {{ for a brace)") !=
          std::string::npos);
    CHECK(wrong("x {se{ed}").find("a { without its } at \"{se{ed}\"") != std::string::npos);
    CHECK(wrong("x {").find("a { without its } at \"{\"") != std::string::npos);
    CHECK(wrong("x }").find("a } without its { at \"}\" (allowed: }} for a brace)") !=
          std::string::npos);
    CHECK(wrong("x", {{{"out", "1"}}}).find("cannot be called \"out\"") != std::string::npos);
}

TEST_CASE("unit.eval.command.settings_that_cannot_be") {
    CHECK(wrong(" \n").find("is empty") != std::string::npos);
    CHECK(wrong(std::string("a\0b", 3)).find("has a NUL") != std::string::npos);
    CHECK(wrong("a", {{{"k", std::string(1, '\0')}}}).find("goes into a shell's command") !=
          std::string::npos);
    const test::TestFolder folder;
    CommandSettings settings = settings_of(folder, "true");
    settings.timeout_s = -1;
    CHECK(error_of([&] { run(settings); }) == "a timeout of -1 s (allowed: 0, for none, and more)");
    settings.timeout_s = 0;
    for (const char* result : {"/etc/passwd", "../x", "a/../../x"}) {
        settings.result = result;
        CHECK(error_of([&] { run(settings); }).find("is not within {out}") != std::string::npos);
    }
    settings.result.clear();
    settings.scratch = folder.write("file", "");
    CHECK(error_of([&] { run(settings); }).find(settings.scratch) == 0);
    settings.scratch.clear();
    CHECK(error_of([&] { run(settings); }).find("has no scratch folder") != std::string::npos);
}
