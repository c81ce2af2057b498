// SPDX-License-Identifier: Apache-2.0
/// What the reports of comparisons have in common: how costs and
/// errors look in a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/comparison/comparison.h"

namespace sluice {

/// 0.01234 as "1.23%", with the digits that a small error needs, in at most eight characters.
std::string percent(double fraction);
/// The same with its sign: "+1.23%".
std::string signed_percent(double fraction);

/// How wide the first column of a table is: the longest label, and 8 at least.
int label_width(const std::vector<const CostRow*>& rows);

/// "hybrid, flow against packet" of rows whose first is the reference; "packet" of one row.
std::string who_against_whom(const std::vector<const CostRow*>& rows);

/// A cell of CSV, empty if the value is missing.
std::string csv_value(const std::optional<double>& value);
std::string csv_value(const std::optional<std::uint64_t>& value);

template <class Json, class Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// A table of costs, in lines.
std::string cost_table(const std::vector<const CostRow*>& rows, int width);

}  // namespace sluice
