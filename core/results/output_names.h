// SPDX-License-Identifier: Apache-2.0
/// Whether what a user names twice is one file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Whether two paths mean one file, there or not yet. An empty path means none.
bool same_file(const std::string& one, const std::string& other);

/// Each file with what it is called in a message, an option mostly; empty ones are left out.
using NamedFiles = std::vector<std::pair<std::string, std::string>>;

/// ConfigError if two of the files are one, of which the later would replace the former. Devices may
/// be named as often as wanted.
void require_different(const NamedFiles& files);

}  // namespace sluice
