// SPDX-License-Identifier: Apache-2.0
/// Any bytes are a small network whose packets go in trains, and flows in it, in mode hybrid or wormhole. It is refused in
/// one line, or all flows end unless they are cut off.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/random_network.h"
#include "tests/fuzz/random_run.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    Choices choices(data, size);
    const RandomNetwork network = random_network(choices, true);
    const std::string mode = choices.pick({"hybrid", "wormhole"});
    const std::string phases =
        "[phases]\n" + number("train", 2 + choices.below(63)) + flag("skip", choices.chance(60));
    run_checked(network.head + key("mode", mode) + network.tables + phases +
                    random_flows(choices, network.hosts),
                network.cut_off);
    return 0;
}
