// SPDX-License-Identifier: Apache-2.0
/// The table [interconnect.NAME.nccl] of a GPU type's file: read and written. Keys: docs/scenario.md.
#pragma once

#include <cstdint>
#include <string>

#include "core/text/config_section.h"
#include "workloads/model/nccl_table.h"

namespace sluice {

/// GPUs of one server that communicate over an interconnect.
inline constexpr std::uint32_t kMostMembers = 1 << 20;

/// ConfigError with the place for what is missing, unknown or out of range.
NcclTable read_nccl_table(ConfigSection section);

/// As read_nccl_table() reads it, to 4 digits; `path` is "interconnect.NAME.nccl", `comment` goes
/// below its heading, line by line.
std::string format_nccl_table(const NcclTable& table, const std::string& path,
                              const std::string& comment);

}  // namespace sluice
