// SPDX-License-Identifier: Apache-2.0
/// Data files that are known by name: NAME.toml in a list of folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/text/config_section.h"

namespace sluice {

/// Whether `name` means a file rather than a name: it ends in ".toml" or has a slash.
bool is_data_path(const std::string& name);

/// The names in `folders`, sorted, each once. Folders that do not exist are passed over.
std::vector<std::string> data_names(const std::vector<std::string>& folders);

/// `name` itself if it means a file, else the path of NAME.toml in the first of `folders` that has
/// it. ConfigError naming the nearest name, and all there are, if none has; `what` is what it is.
std::string find_data_file(const std::string& what, const std::string& name,
                           const std::vector<std::string>& folders);

/// The same for the value `name` of a scenario's key: a file's path goes through `resolve` first, and
/// ConfigErrors name the key's place.
std::string find_data_file(ConfigSection& section, const std::string& key, const std::string& what,
                           const std::string& name, const std::vector<std::string>& folders,
                           const std::function<std::string(const std::string&)>& resolve);

/// The file's name without folder and ending.
std::string data_name(const std::string& path);

}  // namespace sluice
