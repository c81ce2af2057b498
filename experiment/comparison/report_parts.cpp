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

std::string rounded_or_dash(const std::optional<std::uint64_t>& count) {
    return count ? human_count(static_cast<double>(*count)) : "-";
}

}  // namespace

std::string csv_value(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
}

std::string csv_value(const std::optional<std::uint64_t>& value) {
    return value ? fmt::format("{}", *value) : "";
}

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
        text += fmt::format("  {:<{}}{:>10}{:>10}{:>10}{:>7}{:>13}{:>10}{:>10}\n", row->label(),
                            width, human_seconds(row->costs.wall_s), factor(row->speedup),
                            human_seconds(row->costs.user_s),
                            fmt::format("{:.0f}%", 100 * row->cpu_use()),
                            rounded_or_dash(row->packet_hops), rounded_or_dash(row->hops_saved),
                            human_count(row->costs.peak_rss_bytes) + "B");
    }
    return text;
}

}  // namespace sluice
