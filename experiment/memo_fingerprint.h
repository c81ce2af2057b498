// SPDX-License-Identifier: Apache-2.0
/// What of a configuration decides how flows fare whose ways and sizes are known: formats, buffers, marking, law,
/// detector. Not the topology or the workload, which what is remembered tells itself, nor the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Of the effective configuration (JSON): two words, the same for configurations that agree.
std::vector<std::int64_t> memo_fingerprint(const std::string& config_json);

}  // namespace sluice
