// SPDX-License-Identifier: Apache-2.0
/// Where data files that are known by name live: flow-size distributions, models, GPUs.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// Folders to look for data of `kind` ("cdf", "models", "gpus") in, in this order: that of the file
/// `beside` (empty: none), beside an installed program, the source tree.
std::vector<std::string> data_folders(const std::string& kind, const std::string& beside = {});

}  // namespace sluice
