// SPDX-License-Identifier: Apache-2.0
/// What the reports of comparisons have in common: how a cost and an error look in a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/comparison/comparison.h"

namespace sluice {

using ReportJson = nlohmann::ordered_json;

/// 0.01234 as "1.23%", with the digits that a small error needs, in at most eight characters.
std::string percent(double fraction);
/// The same with its sign: "+1.23%".
std::string signed_percent(double fraction);

/// How wide the first column of a table is: the longest label, and 8 at least.
int label_width(const std::vector<const CostRow*>& rows);

/// "hybrid, flow against packet" of rows whose first is the reference; "packet" of one row.
std::string who_against_whom(const std::vector<const CostRow*>& rows);

/// A table of costs, in lines.
std::string cost_table(const std::vector<const CostRow*>& rows, int width);

/// `mode`, `restorer` if there is one, `runs` and costs.
ReportJson cost_json(const CostRow& row);
/// null where there are no flows.
ReportJson fct_json(const FctErrors& fct);

template <typename Value>
ReportJson json_or_null(const std::optional<Value>& value) {
    return value ? ReportJson(*value) : ReportJson(nullptr);
}

/// A document of a comparison, as it is written.
std::string json_text(const ReportJson& json);

}  // namespace sluice
