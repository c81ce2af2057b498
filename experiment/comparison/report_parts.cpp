// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/report_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/text/human.h"

namespace sluice {

namespace {

constexpr std::size_t kNarrowest = 8;

std::string factor(double speedup) {
    return speedup < 1000 ? fmt::format("{:.3g}x", speedup) : fmt::format("{:.0f}x", speedup);
}

std::string count_or_dash(const std::optional<std::uint64_t>& count) {
    return count ? human_count(static_cast<double>(*count)) : "-";
}

}  // namespace

std::string percent(double fraction) {
    constexpr double kSmallest = 1e-6;
    if (fraction == 0) return "0";
    if (fraction < kSmallest) return "<0.0001%";
    if (fraction < 100 * kSmallest) return fmt::format("{:.4f}%", 100 * fraction);
    return fmt::format("{:.3g}%", 100 * fraction);
}

std::string signed_percent(double fraction) {
    if (fraction == 0) return "0";
    return (fraction < 0 ? "-" : "+") + percent(std::abs(fraction));
}

int label_width(const std::vector<const CostRow*>& rows) {
    std::size_t width = kNarrowest;
    for (const CostRow* row : rows) width = std::max(width, row->label().size());
    return static_cast<int>(width);
}

std::string who_against_whom(const std::vector<const CostRow*>& rows) {
    std::string others;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        others += (i > 1 ? ", " : "") + rows[i]->label();
    }
    return (others.empty() ? others : others + " against ") + rows.front()->label();
}

std::string cost_table(const std::vector<const CostRow*>& rows, int width) {
    std::string text =
        fmt::format("  {:<{}}{:>10}{:>10}{:>10}{:>7}{:>13}{:>10}{:>10}\n", "mode", width, "wall",
                    "speed-up", "user", "CPU", "packet-hops", "saved", "peak");
    for (const CostRow* row : rows) {
        text += fmt::format(
            "  {:<{}}{:>10}{:>10}{:>10}{:>7}{:>13}{:>10}{:>10}\n", row->label(), width,
            human_seconds(row->costs.wall_s), factor(row->speedup),
            human_seconds(row->costs.user_s), fmt::format("{:.0f}%", 100 * row->cpu_use()),
            count_or_dash(row->packet_hops), count_or_dash(row->hops_saved),
            human_count(row->costs.peak_rss_bytes) + "B");
    }
    return text;
}

ReportJson cost_json(const CostRow& row) {
    ReportJson json;
    json["mode"] = mode_name(row.mode);
    if (!row.restorer.empty()) json["restorer"] = row.restorer;
    json["runs"] = row.runs;
    json["wall_s"] = row.costs.wall_s;
    json["user_s"] = row.costs.user_s;
    json["cpu_use"] = row.cpu_use();
    json["speedup"] = row.speedup;
    // A mode without packets executes none; that is the figure to compare.
    json["packet_hops"] = row.packet_hops.value_or(0);
    json["hops_saved"] = json_or_null(row.hops_saved);
    json["peak_rss_bytes"] = std::llround(row.costs.peak_rss_bytes);
    json["flows"] = row.flows;
    return json;
}

ReportJson fct_json(const FctErrors& fct) {
    const auto value = [&](double error) {
        return fct.flows > 0 ? ReportJson(error) : ReportJson(nullptr);
    };
    return {{"mean", value(fct.mean)},
            {"p50", value(fct.p50)},
            {"p99", value(fct.p99)},
            {"max", value(fct.max)},
            {"byte_weighted", value(fct.byte_weighted)},
            {"flows", fct.flows}};
}

std::string json_text(const ReportJson& json) {
    return json.dump(2, ' ', false, ReportJson::error_handler_t::replace) + "\n";
}

}  // namespace sluice
