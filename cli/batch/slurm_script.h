// SPDX-License-Identifier: Apache-2.0
/// A batch as an array job of Slurm: a shard a task.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct SlurmJob {
    std::string name;
    unsigned shards = 1;
    unsigned threads = 1;            ///< of each shard
    std::string directory;           ///< of the batch; made absolute
    std::vector<std::string> words;  ///< of the command line, but for folder, shard and threads
};

/// A script for sbatch. Its first lines say how to submit it and how to merge the shards.
std::string slurm_script(const SlurmJob& job);

}  // namespace sluice
