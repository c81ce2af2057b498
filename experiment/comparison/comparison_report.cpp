// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/comparison_report.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/text/human.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

/// 0.01234 as "1.23%", with the digits that a small error needs, in at most eight characters.
std::string percent(double fraction) {
    constexpr double kSmallest = 1e-6;
    if (fraction == 0) return "0";
    if (fraction < kSmallest) return "<0.0001%";
    if (fraction < 100 * kSmallest) return fmt::format("{:.4f}%", 100 * fraction);
    return fmt::format("{:.3g}%", 100 * fraction);
}

std::string factor(double speedup) {
    return speedup < 1000 ? fmt::format("{:.3g}x", speedup) : fmt::format("{:.0f}x", speedup);
}

std::string count_or_dash(const std::optional<std::uint64_t>& count) {
    return count ? human_count(static_cast<double>(*count)) : "-";
}

/// Errors over flows, or dashes where there are none.
std::string fct_cells(const FctErrors& fct) {
    if (fct.flows == 0) return fmt::format("{:>9}{:>9}{:>9}{:>9}{:>9}", "-", "-", "-", "-", "-");
    return fmt::format("{:>9}{:>9}{:>9}{:>9}{:>9}", percent(fct.mean), percent(fct.p50),
                       percent(fct.p99), percent(fct.max), percent(fct.byte_weighted));
}

template <typename Value>
std::string csv_value(const std::optional<Value>& value) {
    return value ? fmt::format("{}", *value) : "";
}

std::string csv_fct(const FctErrors& fct) {
    if (fct.flows == 0) return ",,,,";
    return fmt::format("{},{},{},{},{}", fct.mean, fct.p50, fct.p99, fct.max, fct.byte_weighted);
}

template <typename Value>
Json json_value(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json json_fct(const FctErrors& fct) {
    const auto value = [&](double error) { return fct.flows > 0 ? Json(error) : Json(nullptr); };
    return {{"mean", value(fct.mean)},
            {"p50", value(fct.p50)},
            {"p99", value(fct.p99)},
            {"max", value(fct.max)},
            {"byte_weighted", value(fct.byte_weighted)},
            {"flows", fct.flows}};
}

Json json_row(const ComparisonRow& row) {
    const RunErrors& errors = row.errors;
    const bool links = errors.throughput.links > 0;
    Json json;
    json["mode"] = mode_name(row.mode);
    json["runs"] = row.runs;
    json["wall_s"] = row.costs.wall_s;
    json["user_s"] = row.costs.user_s;
    json["cpu_use"] = row.cpu_use();
    json["speedup"] = row.speedup;
    // A mode without packets executes none; that is the figure to compare.
    json["packet_hops"] = row.packet_hops.value_or(0);
    json["hops_saved"] = json_value(row.hops_saved);
    json["fct_error"] = json_fct(errors.fct);
    json["fct_error_by_class"] = Json::object();
    for (const ClassErrors& one : errors.by_class) {
        json["fct_error_by_class"][one.name] = json_fct(one.fct);
    }
    json["jct_error"] = json_value(errors.jct);
    json["throughput_error"] = links ? Json(errors.throughput.mean) : Json(nullptr);
    json["throughput_error_max"] = links ? Json(errors.throughput.max) : Json(nullptr);
    json["links"] = errors.throughput.links;
    json["peak_rss_bytes"] = std::llround(row.costs.peak_rss_bytes);
    json["flows"] = row.flows;
    json["flows_missing"] = errors.missing;
    json["flows_extra"] = errors.extra;
    return json;
}

/// "gpt13b: hybrid, flow against packet, medians of 3 runs"
std::string title(const Comparison& comparison) {
    const ComparisonRow& reference = comparison.rows.front();
    std::string others;
    for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
        others += (i > 1 ? ", " : "") + std::string(mode_name(comparison.rows[i].mode));
    }
    return fmt::format(
        "{}: {}{}, {}\n", comparison.scenario, others.empty() ? others : others + " against ",
        mode_name(reference.mode),
        reference.runs == 1 ? "one run each" : fmt::format("medians of {} runs", reference.runs));
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
    std::string text = title(comparison);
    text += fmt::format("  {:<8}{:>10}{:>10}{:>10}{:>7}{:>13}{:>10}{:>10}\n", "mode", "wall",
                        "speed-up", "user", "CPU", "packet-hops", "saved", "peak");
    for (const ComparisonRow& row : comparison.rows) {
        text += fmt::format(
            "  {:<8}{:>10}{:>10}{:>10}{:>7}{:>13}{:>10}{:>10}\n", mode_name(row.mode),
            human_seconds(row.costs.wall_s), factor(row.speedup), human_seconds(row.costs.user_s),
            fmt::format("{:.0f}%", 100 * row.cpu_use()), count_or_dash(row.packet_hops),
            count_or_dash(row.hops_saved), human_count(row.costs.peak_rss_bytes) + "B");
    }
    if (comparison.rows.size() == 1) return text;
    text += fmt::format("  {:<8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "errors", "flows", "mean", "p50",
                        "p99", "max", "by bytes");
    for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
        const ComparisonRow& row = comparison.rows[i];
        const RunErrors& errors = row.errors;
        text += fmt::format("  {:<8}{:>8}{}  of completion times\n", mode_name(row.mode),
                            errors.fct.flows, fct_cells(errors.fct));
        for (const ClassErrors& one : errors.by_class) {
            if (errors.by_class.size() == 1) break;
            text += fmt::format("  {:<8}{:>8}{}  {}\n", "", one.fct.flows, fct_cells(one.fct),
                                one.name.empty() ? "without a class" : one.name);
        }
        if (errors.throughput.links > 0) {
            text += fmt::format("  {:<8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}  of links' throughput\n", "",
                                errors.throughput.links, percent(errors.throughput.mean), "", "",
                                percent(errors.throughput.max), "");
        }
        if (errors.jct) {
            text += fmt::format("  {:<8}{:>8}{:>9}{:>36}  of the job's completion time\n", "", "",
                                percent(*errors.jct), "");
        }
        if (errors.missing > 0 || errors.extra > 0) {
            text += fmt::format("  {:<8}{} flows finished in {} only, {} in {} only\n", "",
                                errors.missing, mode_name(comparison.rows.front().mode),
                                errors.extra, mode_name(row.mode));
        }
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
        text += fmt::format("{},all,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            mode_name(row.mode), row.runs, row.costs.wall_s, row.costs.user_s,
                            row.cpu_use(), row.speedup, csv_value(row.packet_hops),
                            csv_value(row.hops_saved), std::llround(row.costs.peak_rss_bytes),
                            row.flows, errors.fct.flows, errors.missing, errors.extra,
                            csv_fct(errors.fct), csv_value(errors.jct),
                            links.links > 0 ? fmt::format("{}", links.mean) : "",
                            links.links > 0 ? fmt::format("{}", links.max) : "", links.links);
        for (const ClassErrors& one : errors.by_class) {
            text += fmt::format("{},{},,,,,,,,,,{},,,{},,,,\n", mode_name(row.mode), one.name,
                                one.fct.flows, csv_fct(one.fct));
        }
    }
    return text;
}

std::string comparison_json(const Comparison& comparison) {
    Json json;
    json["scenario"] = comparison.scenario;
    json["version"] = comparison.version;
    json["interrupted"] = comparison.interrupted;
    json["reference"] = mode_name(comparison.rows.front().mode);
    json["rows"] = Json::array();
    for (const ComparisonRow& row : comparison.rows) json["rows"].push_back(json_row(row));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sluice
