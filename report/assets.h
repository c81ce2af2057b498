// SPDX-License-Identifier: Apache-2.0
/// The page's own files, and the library that draws its charts, as they are in the program.
#pragma once

#include <string_view>

namespace sluice::report {

/// By file name, such as "index.html". Empty if there is none.
std::string_view asset(std::string_view name);

}  // namespace sluice::report
