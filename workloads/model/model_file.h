// SPDX-License-Identifier: Apache-2.0
/// Models as data: TOML files NAME.toml in data folders, and tables of a scenario with the same
/// keys. Keys and defaults: docs/scenario.md.
/// Errors: ConfigError with file, line and column; an unknown key or name is answered with the
/// nearest that exists.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "workloads/model/model.h"

namespace sluice {

/// Reads and checks a file's table. `name` is the model's unless the table gives one.
ModelShape parse_model(const std::string& text, const std::string& source);
ModelShape load_model(const std::string& path);

/// `name` is the path of a file, or NAME of a NAME.toml in the first of `folders` that has one.
ModelShape find_model(const std::string& name, const std::vector<std::string>& folders);

/// Names of all models in `folders`, sorted, each once.
std::vector<std::string> model_names(const std::vector<std::string>& folders);

/// The value of `key` in `section`: a name, a path (through `resolve`), or a table, which may name
/// another model as its `base` and change some of its keys.
ModelShape read_model(ConfigSection& section, const std::string& key,
                      const std::vector<std::string>& folders,
                      const std::function<std::string(const std::string&)>& resolve);

}  // namespace sluice
