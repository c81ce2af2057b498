// SPDX-License-Identifier: Apache-2.0
/// Any text is a flow-size distribution or a ConfigError, and a distribution can be sampled.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "workloads/traffic/flow_size_cdf.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const sluice::FlowSizeCdf cdf = sluice::FlowSizeCdf::parse(text, "input");
        if (!(cdf.mean() > 0) || cdf.mean() > cdf.largest()) std::abort();
        double last = 0;
        for (const double u : {0.0, 0.25, 0.5, 0.999999, 0.9999999999999999}) {
            const auto size_at = static_cast<double>(cdf.sample(u));
            if (size_at < 1 || size_at < last) std::abort();
            if (size_at > 1 && size_at > cdf.largest()) std::abort();
            last = size_at;
        }
    } catch (const sluice::ConfigError&) {
        return 0;
    }
    return 0;
}
