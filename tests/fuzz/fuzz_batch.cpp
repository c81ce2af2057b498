// SPDX-License-Identifier: Apache-2.0
/// Any text is a batch of one experiment at least or a ConfigError of one line; so is what any of its
/// experiments sets. Its base is always the same, whatever it is called.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "experiment/batch/batch_file.h"

namespace {

sluice::ConfigValue base(const std::string& /*path*/) {
    return sluice::parse_config(
        "seed = 1\n[topology]\ntype = \"star\"\nhosts = 4\n"
        "[[workload]]\ntype = \"permutation\"\nsize = \"1KB\"\n",
        "base");
}

void use(const sluice::Batch& batch, std::size_t experiment) {
    if (batch.values(experiment).size() != batch.columns().size()) std::abort();
    try {
        std::string path;
        const sluice::ConfigValue values = batch.scenario(experiment, &path);
        if (values.table.empty() || sluice::digest_of(values).size() != 32) std::abort();
        if (sluice::digest_of(values) != sluice::digest_of(batch.scenario(experiment)))
            std::abort();
    } catch (const sluice::ConfigError& error) {
        if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string text(reinterpret_cast<const char*>(data), size);
        const sluice::Batch batch = sluice::parse_batch(text, "input", base);
        if (batch.size() == 0) std::abort();
        for (std::size_t i = 0; i < std::min<std::size_t>(batch.size(), 4); ++i) use(batch, i);
        use(batch, batch.size() - 1);
    } catch (const sluice::ConfigError& error) {
        if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    }
    return 0;
}
