// SPDX-License-Identifier: Apache-2.0
/// Two processes save to one memo, both with entries of their own and entries that they share, while a
/// third does the same and is killed at a random instant. After each round the file must be whole:
/// nothing damaged, all that the two saved is there, every batch of the third is there whole or not at
/// all, and every sample is what was simulated. Half of the rounds begin with a new file; in every
/// third the two begin when the third is dead, and find what it left.
///
/// usage: memo_store_stress ROUNDS [SEED]; a line of JSON; exit code 1 if a round went wrong.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/memo/store.h"
#include "core/random.h"

namespace {

using namespace sluice;
using namespace sluice::memo;

constexpr std::uint64_t kBatches = 6;
constexpr std::uint64_t kEntries = 4;  // of a batch
constexpr std::uint64_t kShared = 9;   // in place of a process: entries that all of them save
constexpr std::uint64_t kVictim = 3;

Digest digest_of(std::uint64_t process, std::uint64_t batch, std::uint64_t entry) {
    return {mix_bits(process), process << 48 | batch << 8 | entry};
}

/// What simulating the entry gives whoever does it.
Sample sample_of(const Digest& digest, std::uint64_t n) {
    Sample sample;
    for (std::uint64_t i = 0; i < 50 + digest.low % 300; ++i) {
        sample.values.push_back(
            static_cast<std::int64_t>(random_bits(digest.low, n, i) >> (40 + n)));
    }
    return sample;
}

/// One batch of a process: entries that only it saves, and one to which all add.
Content batch_of(std::uint64_t process, std::uint64_t batch) {
    Memo memo;
    for (std::uint64_t entry = 0; entry < kEntries; ++entry) {
        const Digest digest = digest_of(process, batch, entry);
        memo.add(digest, 0, Kind::episode, {1, 2}, sample_of(digest, 0));
    }
    const Digest shared = digest_of(kShared, batch % kBatches, 0);
    memo.add(shared, 0, Kind::transient, {3}, sample_of(shared, process));
    return memo.news();
}

/// A child that saves its batches: `batches` of them.
pid_t start(const std::string& path, std::uint64_t process, std::uint64_t batches) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
        for (std::uint64_t batch = 0; batch < batches; ++batch)
            save(path, batch_of(process, batch));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "memo_store_stress: %s\n", error.what());
        _exit(1);
    }
    _exit(0);
}

bool ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Empty if all is as it must be.
std::string check(const Loaded& loaded) {
    if (loaded.damaged != 0) return "damaged entries";
    std::map<std::uint64_t, std::uint64_t> found;  // entries by process and batch
    for (const Stored& one : loaded.content) {
        const std::uint64_t process = one.digest.low >> 48;
        ++found[one.digest.low >> 8];
        for (const SampleCount& sample : one.entry.samples) {
            bool known = false;
            for (std::uint64_t n = 0; n <= kVictim; ++n) {
                known = known || *sample.sample == sample_of(one.digest, n);
            }
            if (!known || (process != kShared && one.entry.samples.size() != 1)) {
                return "a sample that nobody saved";
            }
        }
    }
    for (std::uint64_t process = 1; process <= 2; ++process) {
        for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
            if (found[digest_of(process, batch, 0).low >> 8] != kEntries) return "a lost save";
        }
    }
    for (const auto& [key, count] : found) {
        if (key >> 40 == kVictim && count != kEntries) return "half of a save";
    }
    return "";
}

struct Tally {
    std::size_t batches = 0;   ///< that the killed processes had saved
    std::size_t journals = 0;  ///< saves that were cut off half done, where that can be seen
};

void run_round(const std::string& path, std::uint64_t seed, std::uint64_t round, Tally& tally) {
    const bool alone = round % 3 == 2;
    const pid_t victim = start(path, kVictim, 1'000'000);
    pid_t first = alone ? 0 : start(path, 1, kBatches);
    pid_t second = alone ? 0 : start(path, 2, kBatches);
    std::this_thread::sleep_for(std::chrono::microseconds(uniform_below(seed, 0, round, 40'000)));
    kill(victim, SIGKILL);
    int status = 0;
    waitpid(victim, &status, 0);
    if (alone) {
        if (std::filesystem::exists(path + "-journal")) ++tally.journals;
        first = start(path, 1, kBatches);
        second = start(path, 2, kBatches);
    }
    const bool first_well = ended_well(first);
    const bool second_well = ended_well(second);
    const Loaded loaded = load(path);
    const std::string wrong = first_well && second_well ? check(loaded) : "a save failed";
    if (!wrong.empty()) throw std::runtime_error("round " + std::to_string(round) + ": " + wrong);
    for (const Stored& one : loaded.content) {
        if (one.digest.low >> 48 == kVictim && (one.digest.low & 0xff) == 0) ++tally.batches;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: memo_store_stress ROUNDS [SEED]\n");
        return 2;
    }
    const auto rounds = std::strtoull(argv[1], nullptr, 10);
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    std::string folder = (std::filesystem::temp_directory_path() / "memo-stress-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return 2;
    int code = 0;
    Tally tally;
    try {
        const std::string path = folder + "/memo.sqlite";
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (round % 2 == 0) {
                std::filesystem::remove(path);
                std::filesystem::remove(path + "-journal");
            }
            run_round(path, seed, round, tally);
        }
        std::printf("{\"rounds\": %llu, \"batches_of_the_killed\": %zu, \"cut_off\": %zu}\n",
                    static_cast<unsigned long long>(rounds), tally.batches, tally.journals);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "memo_store_stress: %s\n", error.what());
        code = 1;
    }
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    return code;
}
