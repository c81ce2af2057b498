// SPDX-License-Identifier: Apache-2.0
/// Figures and lists in a report's sentences.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::report {

/// 12345: "12,345".
std::string with_commas(std::size_t number);
/// 0.0123: "1.2%".
std::string shown_share(double share);
/// "a", "a and b", "a, b and c".
std::string listing(const std::vector<std::string>& texts);

}  // namespace sluice::report
