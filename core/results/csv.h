// SPDX-License-Identifier: Apache-2.0
/// Fields of CSV files.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

__extension__ typedef __int128 WideCount;

/// A text field, quoted where it must be.
std::string csv_field(std::string_view text);

/// part / whole with six decimals, truncated, by integers only; empty if whole is not positive.
std::string csv_ratio(WideCount part, WideCount whole);

}  // namespace sluice
