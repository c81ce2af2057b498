// SPDX-License-Identifier: Apache-2.0
/// Any text is an AIOB profile or a ConfigError of one line, and its times are never negative.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "workloads/model/aiob_profile.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using Time = sluice::Tick (*)(const sluice::AiobProfile&);
    static const Time kTimes[] = {
        [](const sluice::AiobProfile& profile) { return profile.attention(true); },
        [](const sluice::AiobProfile& profile) { return profile.mlp(); },
        [](const sluice::AiobProfile& profile) { return profile.embedding(); },
        [](const sluice::AiobProfile& profile) { return profile.head(); },
        [](const sluice::AiobProfile& profile) { return profile.optimizer(); },
    };
    const auto one_line = [](const sluice::ConfigError& error) {
        if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    };
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const sluice::AiobProfile profile = sluice::AiobProfile::parse(text, "input");
        for (const Time& time : kTimes) {
            try {
                if (time(profile) < 0) std::abort();
            } catch (const sluice::ConfigError& error) {
                one_line(error);
            }
        }
    } catch (const sluice::ConfigError& error) {
        one_line(error);
    }
    return 0;
}
