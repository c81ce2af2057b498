// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/gpu.h"

#include <vector>

#include "core/error.h"

namespace sluice {

const Gpu& find_gpu(const std::string& name) {
    static const std::vector<Gpu> kGpus = {
        {"A100", 312e12, 240'000'000'000}, {"A800", 312e12, 160'000'000'000},
        {"H100", 989e12, 370'800'000'000}, {"H800", 989e12, 164'800'000'000},
        {"H20", 148e12, 370'800'000'000},
    };
    std::string known;
    for (const Gpu& gpu : kGpus) {
        if (gpu.name == name) return gpu;
        known += (known.empty() ? "" : ", ") + gpu.name;
    }
    throw ConfigError("unknown GPU type \"" + name + "\": known are " + known);
}

}  // namespace sluice
