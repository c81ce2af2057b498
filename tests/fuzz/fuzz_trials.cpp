// SPDX-License-Identifier: Apache-2.0
/// Any bytes are the database of an evaluation's trials, to which one is added, or a ConfigError of one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "eval/trials/trial_store.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/scratch_file.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::eval;
    using namespace sluice::fuzz;
    const ScratchFile file(data, size);
    try {
        TrialStore store(file.path(), "identity", {"mean", "p99"}, false);
        const std::vector<StoredTrial> trials = store.load();
        require(trials.size() == store.size());
        for (const StoredTrial& trial : trials) {
            require(trial.failure.empty() == (trial.observations.size() == 2));
        }
        StoredTrial more;
        more.trial = 1 << 20;
        more.observations.resize(2);
        more.observations[1].values = {1, 2};
        store.add(more);
        require(!store.load().empty());
    } catch (const sluice::ConfigError& error) {
        require_line(error.what());
    }
    return 0;
}
