// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/slurm_script.h"

#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "core/text/printable.h"
#include "core/text/shell.h"

namespace sluice {

namespace {

/// This program, as other machines of the cluster know it.
std::string this_program() {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "sluice" : path.string();
}

}  // namespace

std::string slurm_script(const SlurmJob& job) {
    std::string words;
    for (const std::string& word : job.words) words += shell_word(word) + " ";
    words += "--out " + shell_word(std::filesystem::absolute(job.directory).string());
    return fmt::format(
        R"(#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={threads}
# One shard of {shards} a task. A task that was killed goes on where it was when it is submitted again.
# Submit, and merge when all have ended, with this file as FILE:
#   job=$(sbatch --parsable FILE) && sbatch --dependency=afterany:$job --wrap="sh FILE merge"
set -eu
program=${{SLUICE:-{program}}}
if [ "${{1:-}}" = merge ]; then
    exec "$program" {words} --merge
fi
exec "$program" {words} --shard "$SLURM_ARRAY_TASK_ID/{shards}" --threads "${{SLURM_CPUS_PER_TASK:-{threads}}}" --resume --quiet
)",
        fmt::arg("name", shell_word(printable_line(job.name))), fmt::arg("shards", job.shards),
        fmt::arg("threads", job.threads), fmt::arg("program", shell_word(this_program())),
        fmt::arg("words", words));
}

}  // namespace sluice
