// SPDX-License-Identifier: Apache-2.0
/// Any bytes are the database of a batch's shard, which is merged into a batch, or a ConfigError of one line.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "experiment/batch/batch_store.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/scratch_file.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    const ScratchFile shard(data, size);
    const ScratchFile whole(data, 0, "-batch");
    try {
        sluice::BatchStore batch(whole.path(), "version");
        const std::size_t taken = batch.take(shard.path());
        require(batch.take(shard.path()) <= taken);
        const auto known = batch.known(false, true);
        require(known.size() <= taken);
        batch.begin({"seed"}, {}, "", true);
        require(batch.aside() <= batch.size());
        batch.references();
        batch.folders();
        batch.known_to_others();
    } catch (const sluice::ConfigError& error) {
        require_line(error.what());
    }
    return 0;
}
