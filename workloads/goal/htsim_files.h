// SPDX-License-Identifier: Apache-2.0
/// htsim's files, told apart from GOAL schedules and from each other by how they begin, whatever they are
/// called: connection matrices are named .cm, .tm and otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

enum class HtsimFile : std::uint8_t { none, matrix, topology };

/// `none` of a file that cannot be read, too: its reader says why.
HtsimFile htsim_file(const std::string& path);

}  // namespace sluice
