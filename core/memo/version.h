// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sluice::memo {

/// Of the file: its tables, and how an entry is written.
inline constexpr std::int64_t kFormatVersion = 1;
/// Of what entries say: raised whenever the engine, a law or what the memo's users put into a
/// situation's graph changes what the same situation ends in.
inline constexpr const char* kResultsVersion = "7";

}  // namespace sluice::memo
