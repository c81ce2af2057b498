// SPDX-License-Identifier: Apache-2.0
/// Any text is a scenario or a ConfigError of one line, with an override or without. What an input
/// may ask for is kept small: the largest networks that the loader allows are legal, but slow.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "scenario/scenario.h"

namespace {

constexpr std::int64_t kMostOfAnything = 12;

bool small(const sluice::ConfigValue& value) {
    if (value.kind == sluice::ConfigValue::Kind::integer) return value.integer <= kMostOfAnything;
    for (const sluice::ConfigValue& item : value.array) {
        if (!small(item)) return false;
    }
    for (const sluice::ConfigMember& member : value.table) {
        if (!small(member.value)) return false;
    }
    return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first line is an override, the rest the file.
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    const std::string assignment = text.substr(0, end);
    const std::string file = end == std::string::npos ? "" : text.substr(end + 1);
    try {
        sluice::ConfigValue values = sluice::parse_config(file, "input");
        if (!assignment.empty()) sluice::override_config(values, assignment);
        const sluice::ConfigMember* topology = values.find("topology");
        // Nor may it open files of this machine.
        if (topology != nullptr && (!small(topology->value) || topology->value.find("path"))) {
            return 0;
        }
        const sluice::Scenario scenario = sluice::parse_scenario(
            file, "input",
            assignment.empty() ? std::vector<std::string>{} : std::vector<std::string>{assignment});
        if (scenario.topology.host_count() == 0 || scenario.effective->json().empty()) std::abort();
    } catch (const sluice::ConfigError& error) {
        if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    }
    return 0;
}
