// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/text/human.h"
#include "experiment/comparison/report_parts.h"
#include "experiment/comparison/variants.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

std::string seconds_or_dash(const std::optional<double>& seconds) {
    return seconds ? human_seconds(*seconds) : "-";
}

/// Digits in groups of three: "12,935".
std::string count_or_dash(const std::optional<std::uint64_t>& count) {
    if (!count) return "-";
    std::string text = std::to_string(*count);
    for (std::size_t from_end = 3; from_end < text.size(); from_end += 4) {
        text.insert(text.size() - from_end, ",");
    }
    return text;
}

/// A column: its head, and its cells by row.
struct TableColumn {
    std::string head;
    std::vector<std::string> cells;
    bool right = true;

    bool silent() const {
        return std::all_of(cells.begin(), cells.end(),
                           [](const std::string& cell) { return cell == "-" || cell == "0"; });
    }
};

template <typename Cell>
TableColumn column(const Variants& variants, const char* head, Cell&& cell) {
    TableColumn made{head, {}};
    for (const VariantRow& row : variants.rows) made.cells.push_back(cell(row));
    return made;
}

/// Nothing that a table need show of every row.
bool same_everywhere(const Variants& variants, std::size_t key) {
    return variants.rows.size() > 1 &&
           std::all_of(variants.rows.begin(), variants.rows.end(), [&](const VariantRow& row) {
               return row.values[key] == variants.rows.front().values[key];
           });
}

/// One column for each key, then the figures; counts that are nowhere are left out.
std::vector<TableColumn> columns_of(const Variants& variants) {
    std::vector<TableColumn> columns;
    for (std::size_t k = 0; k < variants.keys.size(); ++k) {
        if (same_everywhere(variants, k)) continue;
        columns.push_back(column(variants, variants.keys[k].c_str(),
                                 [&](const VariantRow& row) { return row.values[k]; }));
        columns.back().right = false;
    }
    const auto fct = [&](const char* head, double VariantFct::*figure) {
        return column(variants, head, [&](const VariantRow& row) {
            return row.fct ? human_seconds((*row.fct).*figure) : "-";
        });
    };
    columns.push_back(fct("mean FCT", &VariantFct::mean_s));
    columns.push_back(fct("p50", &VariantFct::p50_s));
    columns.push_back(fct("p99", &VariantFct::p99_s));
    columns.push_back(fct("max", &VariantFct::max_s));
    columns.push_back(column(variants, "completion",
                             [](const VariantRow& row) { return seconds_or_dash(row.jct_s); }));
    for (const TableColumn& counts :
         {column(variants, "ECN marks",
                 [](const VariantRow& row) { return count_or_dash(row.ecn_marks); }),
          column(variants, "PFC pauses",
                 [](const VariantRow& row) { return count_or_dash(row.pfc_pauses); }),
          column(variants, "drops", [](const VariantRow& row) { return count_or_dash(row.drops); }),
          column(variants, "unfinished",
                 [](const VariantRow& row) { return count_or_dash(row.flows_left); })}) {
        if (!counts.silent()) columns.push_back(counts);
    }
    columns.push_back(column(variants, "packet-hops", [](const VariantRow& row) {
        return row.packet_hops ? human_count(static_cast<double>(*row.packet_hops)) : "-";
    }));
    columns.push_back(column(
        variants, "wall", [](const VariantRow& row) { return human_seconds(row.costs.wall_s); }));
    return columns;
}

/// "dcqcn 100KB, hpcc 100KB": the rows by what varies.
std::string names_of(const Variants& variants, const std::vector<std::size_t>& rows) {
    if (rows.size() == variants.rows.size()) return "all";
    std::string text;
    for (const std::size_t row : rows) {
        text += text.empty() ? "" : ", ";
        bool first = true;
        for (std::size_t k = 0; k < variants.keys.size(); ++k) {
            if (same_everywhere(variants, k)) continue;
            text += (first ? "" : " ") + variants.rows[row].values[k];
            first = false;
        }
    }
    return text;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

std::string variants_table(const Variants& variants) {
    const std::size_t runs = variants.rows.front().runs;
    std::string text = fmt::format("{}: {} variants", variants.scenario, variants.rows.size());
    for (std::size_t k = 0; k < variants.keys.size(); ++k) {
        if (same_everywhere(variants, k)) {
            text += fmt::format(", {} {}", variants.keys[k], variants.rows.front().values[k]);
        }
    }
    text += runs == 1 ? ", one run each\n" : fmt::format(", medians of {} runs\n", runs);
    std::vector<std::string> lines(variants.rows.size() + 1, " ");
    for (const TableColumn& one : columns_of(variants)) {
        std::size_t width = one.head.size();
        for (const std::string& cell : one.cells) width = std::max(width, cell.size());
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string& cell = i == 0 ? one.head : one.cells[i - 1];
            lines[i] += one.right ? fmt::format("  {:>{}}", cell, width)
                                  : fmt::format(" {:<{}} ", cell, width);
        }
    }
    for (const std::string& line : lines) {
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    for (const SameFlows& same : same_flows(variants)) {
        text += fmt::format("  same flows   {}: {}\n", names_of(variants, same.rows), same.why);
    }
    return text;
}

std::string variants_csv(const Variants& variants) {
    std::string text;
    for (const std::string& key : variants.keys) text += csv_field(key) + ",";
    text +=
        "runs,wall_s,user_s,peak_rss_bytes,flows,flows_left,fct_mean_s,fct_p50_s,fct_p99_s,"
        "fct_max_s,jct_s,ecn_marks,pfc_pauses,drops,packet_hops,folder\n";
    for (const VariantRow& row : variants.rows) {
        for (const std::string& value : row.values) text += csv_field(value) + ",";
        const std::string fct = row.fct
                                    ? fmt::format("{},{},{},{}", row.fct->mean_s, row.fct->p50_s,
                                                  row.fct->p99_s, row.fct->max_s)
                                    : ",,,";
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.runs, row.costs.wall_s,
                            row.costs.user_s, std::llround(row.costs.peak_rss_bytes), row.flows,
                            row.flows_left, fct, csv_value(row.jct_s), csv_value(row.ecn_marks),
                            csv_value(row.pfc_pauses), csv_value(row.drops),
                            csv_value(row.packet_hops), csv_field(row.folder));
    }
    return text;
}

std::string variants_json(const Variants& variants) {
    Json json;
    json["scenario"] = variants.scenario;
    json["version"] = variants.version;
    json["interrupted"] = variants.interrupted;
    json["varied"] = variants.keys;
    json["rows"] = Json::array();
    for (const VariantRow& row : variants.rows) {
        Json one;
        one["values"] = Json::object();
        for (std::size_t k = 0; k < variants.keys.size(); ++k) {
            one["values"][variants.keys[k]] = row.values[k];
        }
        one["folder"] = row.folder;
        one["runs"] = row.runs;
        one["wall_s"] = row.costs.wall_s;
        one["user_s"] = row.costs.user_s;
        one["peak_rss_bytes"] = std::llround(row.costs.peak_rss_bytes);
        one["flows"] = row.flows;
        one["flows_left"] = row.flows_left;
        one["fct_s"] = row.fct ? Json{{"mean", row.fct->mean_s},
                                      {"p50", row.fct->p50_s},
                                      {"p99", row.fct->p99_s},
                                      {"max", row.fct->max_s}}
                               : Json(nullptr);
        one["jct_s"] = or_null<Json>(row.jct_s);
        one["ecn_marks"] = or_null<Json>(row.ecn_marks);
        one["pfc_pauses"] = or_null<Json>(row.pfc_pauses);
        one["drops"] = or_null<Json>(row.drops);
        one["packet_hops"] = or_null<Json>(row.packet_hops);
        json["rows"].push_back(std::move(one));
    }
    json["same_flows"] = Json::array();
    for (const SameFlows& same : same_flows(variants)) {
        json["same_flows"].push_back({{"rows", same.rows}, {"why", same.why}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sluice
