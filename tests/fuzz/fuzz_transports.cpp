// SPDX-License-Identifier: Apache-2.0
/// Any bytes are a small network with some transport, way to balance, law, losses and failing cables, and flows in it. It
/// is refused in one line, or all flows end unless they are cut off.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/random_network.h"
#include "tests/fuzz/random_run.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    Choices choices(data, size);
    const RandomNetwork network = random_network(choices, false);
    const std::string mode = choices.pick({"packet", "packet", "hybrid", "wormhole"});
    run_checked(
        network.head + key("mode", mode) + network.tables + random_flows(choices, network.hosts),
        network.cut_off);
    return 0;
}
