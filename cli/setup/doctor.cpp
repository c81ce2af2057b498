// SPDX-License-Identifier: Apache-2.0
/// `sluice doctor`: what of the program works here, and what to do about the rest.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/core.h>

#include "cli/child_run.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/memo/store.h"
#include "experiment/version.h"
#include "gpu/cuda/cuda_executor.h"
#include "report/report.h"
#include "restore/shipped_model.h"
#include "restore/torch_engine.h"
#include "scenario/workload/data_folders.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Small, but with all that an engine does: packets, windows, a skip, outputs.
constexpr const char* kTrial = R"(name = "doctor"
[topology]
type = "star"
hosts = 4
[workload]
type = "permutation"
size = "1MB"
)";

/// A folder that is there as long as this object.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::string name = (fs::temp_directory_path() / "sluice-doctor-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw fs::filesystem_error("", name, {errno, std::generic_category()});
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

void print_finding(const char* what, bool good, const std::string& text) {
    print("  {:<12} {:<4} {}\n", what, good ? "ok" : "no", text);
}

/// Simulates a trial in each mode, in a process of its own. False if one of them does not come to its end.
bool check_modes() {
    const ScratchFolder scratch;
    const fs::path scenario = scratch.path() / "doctor.toml";
    std::ofstream(scenario) << kTrial;
    bool all = true;
    for (const char* const mode : {"packet", "hybrid", "wormhole", "flow"}) {
        std::vector<std::string> words{
            "run",    scenario.string(), "--mode", mode, "--out", (scratch.path() / mode).string(),
            "--quiet"};
        if (std::string(mode) == "wormhole") words.emplace_back("--no-memo");
        const int code = run_this_program(words);
        const bool good = code == kExitDone;
        print_finding(
            mode, good,
            good ? "simulates a trial"
                 : fmt::format("a trial ended with exit code {}: report it as a defect", code));
        all = all && good;
    }
    return all;
}

void check_data() {
    std::size_t models = 0;
    std::string where;
    for (const std::string& folder : data_folders("models")) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error))
            models += entry.path().extension() == ".toml" ? 1 : 0;
        if (models > 0 && where.empty()) where = folder;
        if (models > 0) break;
    }
    print_finding(
        "models", models > 0,
        models > 0
            ? fmt::format("{} in {}", models, where)
            : "no models or GPU types by name: keep share/sluice beside bin/ of the installation");
    const std::string queues = restore::shipped_model_path();
    const bool there = fs::exists(queues);
    print_finding("restoration", there,
                  there
                      ? queues
                      : queues + " is missing: phases.restore needs it; install the program again");
}

void check_memo() {
    const fs::path memo = memo::default_path();
    std::error_code error;
    const fs::path folder = memo.parent_path();
    fs::create_directories(folder, error);  // as a run would
    const bool writable =
        !memo.empty() && fs::is_directory(folder, error) && access(folder.c_str(), W_OK) == 0;
    print_finding(
        "memo", writable,
        writable ? memo.string()
                 : "cannot be kept in " + memo.string() +
                       ": set XDG_CACHE_HOME to a folder that can be written, or use --no-memo");
}

void check_extras() {
    print_finding("report", report::has_charts(),
                  report::has_charts()
                      ? "pages have charts"
                      : "this build has no ECharts: ./quickstart --build-only fetches it");
    std::string why;
    const int gpus = gpu::cuda_device_count(why);
    print_finding("GPU", gpus > 0,
                  gpus > 0 ? fmt::format("{} for sluice batch --device cuda", gpus)
                           : why + "; CPUs do all that it would do");
    const bool torch = restore::torch_available(why);
    print_finding("train", torch, torch ? restore::torch_version() : why);
}

int doctor() {
    const InterruptGuard guard;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    print("sluice {}, {}\n", program_version(), program.string());
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    print("Needed:\n");
    print_finding("processors", true, fmt::format("{}", cores));
    const bool works = check_modes();
    check_data();
    check_memo();
    print("Optional:\n");
    check_extras();
    return works ? kExitDone : kExitInternal;
}

}  // namespace

Command add_doctor_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "doctor", "Show what of the program works here, and what to do about the rest");
    return {app, [] { return doctor(); }};
}

}  // namespace sluice
