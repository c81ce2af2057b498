// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/comparison_report.h"

#include <cmath>

#include <fmt/core.h>

#include "experiment/comparison/report_parts.h"

namespace sluice {

namespace {

/// Errors over flows, or dashes where there are none.
std::string fct_cells(const FctErrors& fct) {
    if (fct.flows == 0) return fmt::format("{:>9}{:>9}{:>9}{:>9}{:>9}", "-", "-", "-", "-", "-");
    return fmt::format("{:>9}{:>9}{:>9}{:>9}{:>9}", percent(fct.mean), percent(fct.p50),
                       percent(fct.p99), percent(fct.max), percent(fct.byte_weighted));
}

std::string csv_fct(const FctErrors& fct) {
    if (fct.flows == 0) return ",,,,";
    return fmt::format("{},{},{},{},{}", fct.mean, fct.p50, fct.p99, fct.max, fct.byte_weighted);
}

std::vector<const CostRow*> costs_of(const Comparison& comparison) {
    std::vector<const CostRow*> rows;
    for (const ComparisonRow& row : comparison.rows) rows.push_back(&row);
    return rows;
}

/// "gpt13b: hybrid, flow against packet, medians of 3 runs"
std::string title(const Comparison& comparison) {
    const std::size_t runs = comparison.rows.front().runs;
    return fmt::format("{}: {}, {}\n", comparison.scenario, who_against_whom(costs_of(comparison)),
                       runs == 1 ? "one run each" : fmt::format("medians of {} runs", runs));
}

/// How far a mode is off, in lines.
std::string error_lines(const ComparisonRow& row, const CostRow& reference, int width) {
    const RunErrors& errors = row.errors;
    std::string text = fmt::format("  {:<{}}{:>8}{}  of completion times\n", row.label(), width,
                                   errors.fct.flows, fct_cells(errors.fct));
    for (const ClassErrors& one : errors.by_class) {
        if (errors.by_class.size() == 1) break;
        text += fmt::format("  {:<{}}{:>8}{}  {}\n", "", width, one.fct.flows, fct_cells(one.fct),
                            one.name.empty() ? "without a class" : one.name);
    }
    if (errors.throughput.links > 0) {
        text += fmt::format("  {:<{}}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}  of links' throughput\n", "",
                            width, errors.throughput.links, percent(errors.throughput.mean), "", "",
                            percent(errors.throughput.max), "");
    }
    if (errors.jct) {
        text += fmt::format("  {:<{}}{:>8}{:>9}{:>36}  of the job's completion time\n", "", width,
                            "", percent(*errors.jct), "");
    }
    if (errors.missing > 0 || errors.extra > 0) {
        text += fmt::format("  {:<{}}{} flows finished in {} only, {} in {} only\n", "", width,
                            errors.missing, reference.label(), errors.extra, row.label());
    }
    return text;
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
    const std::vector<const CostRow*> costs = costs_of(comparison);
    const int width = label_width(costs);
    std::string text = title(comparison) + cost_table(costs, width);
    if (comparison.rows.size() == 1) return text;
    text += fmt::format("  {:<{}}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "errors", width, "flows",
                        "mean", "p50", "p99", "max", "by bytes");
    for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
        text += error_lines(comparison.rows[i], *costs.front(), width);
    }
    return text;
}

std::string comparison_csv(const Comparison& comparison) {
    std::string text =
        "mode,class,runs,wall_s,user_s,cpu_use,speedup,packet_hops,hops_saved,peak_rss_bytes,flows,"
        "flows_compared,flows_missing,flows_extra,fct_error_mean,fct_error_p50,fct_error_p99,"
        "fct_error_max,fct_error_byte_weighted,jct_error,throughput_error,throughput_error_max,"
        "links\n";
    for (const ComparisonRow& row : comparison.rows) {
        const RunErrors& errors = row.errors;
        const LinkErrors& links = errors.throughput;
        text +=
            fmt::format("{},all,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.label(),
                        row.runs, row.costs.wall_s, row.costs.user_s, row.cpu_use(), row.speedup,
                        csv_value(row.packet_hops), csv_value(row.hops_saved),
                        std::llround(row.costs.peak_rss_bytes), row.flows, errors.fct.flows,
                        errors.missing, errors.extra, csv_fct(errors.fct), csv_value(errors.jct),
                        links.links > 0 ? fmt::format("{}", links.mean) : "",
                        links.links > 0 ? fmt::format("{}", links.max) : "", links.links);
        for (const ClassErrors& one : errors.by_class) {
            text += fmt::format("{},{},,,,,,,,,,{},,,{},,,,\n", row.label(), one.name,
                                one.fct.flows, csv_fct(one.fct));
        }
    }
    return text;
}

}  // namespace sluice
