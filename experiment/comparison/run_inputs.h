// SPDX-License-Identifier: Apache-2.0
/// Is what lies in a run's folder the result of exactly this run? A stamp beside the results says what
/// it was made of; a run is made again unless that is the same.
#pragma once

#include <string>
#include <vector>

#include "core/text/config_value.h"

namespace sluice {

/// What the results of a run depend on, as text: this program, the scenario with its overrides, and the
/// files that it names, by size and time of change. `values`: the scenario, overridden, as a run would
/// see it but for `arguments`, the run's own. `results`: the folder that results go to, which is no
/// input even if it is called like one. `model`: the file of a restorer's model, by its content, for
/// where one lies another may be put, and the shipped one is named nowhere; empty: none is read. A file
/// named in a file is not looked at.
std::string run_inputs(const ConfigValue& values, const std::string& scenario,
                       const std::vector<std::string>& arguments, const std::string& results,
                       const std::string& model);

/// Writes the stamp of a run that has come to its end with `exit_code`. ConfigError if that fails.
void write_stamp(const std::string& folder, const std::string& inputs, int exit_code);

/// Makes whatever is in the folder count as no run.
void remove_stamp(const std::string& folder);

/// The exit code of the run that left the folder, if it is one of `inputs`; else -1.
int stamped_exit_code(const std::string& folder, const std::string& inputs);

}  // namespace sluice
