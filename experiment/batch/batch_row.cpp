// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_row.h"

#include <iterator>

#include <fmt/core.h>

#include "core/results/csv.h"
#include "core/results/summary.h"
#include "core/text/printable.h"

namespace sluice {

namespace {

/// What a figure is taken from.
struct Taken {
    const RunReport& report;
    Mode mode;

    const Summary& summary() const { return report.summary; }
    const RunCounters& counters() const { return report.outcome.counters; }
    bool packets() const { return moves_packets(mode); }
};

BatchFigure seconds_or_none(Tick time) {
    return time == kNever ? BatchFigure{} : BatchFigure{to_seconds(time)};
}

template <typename Count>
BatchFigure count(Count value) {
    return static_cast<std::int64_t>(value);
}

template <typename Count>
BatchFigure count_if(bool known, Count value) {
    return known ? count(value) : BatchFigure{};
}

/// Of the job's time; half of it is that of the 95% interval.
BatchFigure audit_figure(const Taken& from, bool want_half) {
    double error = 0;
    double half = 0;
    if (!has_phases(from.mode) || !job_time_error(from.report.outcome, error, half)) return {};
    return want_half ? half : error;
}

struct Figure : BatchFigureType {
    BatchFigure (*take)(const Taken&);
};

const std::vector<Figure>& figures() {
    static const std::vector<Figure> kFigures{
        {{"jct_s", false, false}, [](const Taken& t) { return seconds_or_none(t.summary().jct); }},
        {{"fct_mean_s", false, false},
         [](const Taken& t) {
             return t.summary().flows_completed > 0 ? BatchFigure{t.summary().fct_mean_s}
                                                    : BatchFigure{};
         }},
        {{"fct_p50_s", false, false},
         [](const Taken& t) { return seconds_or_none(t.summary().fct_p50); }},
        {{"fct_p99_s", false, false},
         [](const Taken& t) { return seconds_or_none(t.summary().fct_p99); }},
        {{"fct_max_s", false, false},
         [](const Taken& t) { return seconds_or_none(t.summary().fct_max); }},
        {{"flows", true, false}, [](const Taken& t) { return count(t.summary().flows); }},
        {{"flows_completed", true, false},
         [](const Taken& t) { return count(t.summary().flows_completed); }},
        {{"bytes", true, false}, [](const Taken& t) { return count(t.summary().bytes); }},
        {{"simulated_s", false, false},
         [](const Taken& t) { return BatchFigure{to_seconds(t.report.outcome.simulated)}; }},
        {{"packet_hops", true, false},
         [](const Taken& t) { return count_if(t.packets(), t.counters().packet_hops); }},
        {{"ecn_marks", true, false},
         [](const Taken& t) { return count_if(t.packets(), t.counters().ecn_marks); }},
        {{"pfc_pauses", true, false},
         [](const Taken& t) { return count_if(t.packets(), t.counters().pfc_pauses); }},
        {{"drops", true, false},
         [](const Taken& t) { return count_if(t.packets(), t.counters().drops); }},
        {{"jct_error", false, false}, [](const Taken& t) { return audit_figure(t, false); }},
        {{"jct_error_half", false, false}, [](const Taken& t) { return audit_figure(t, true); }},
        {{"wall_s", false, true},
         [](const Taken& t) {
             return BatchFigure{t.report.outcome.elaboration_s + t.report.outcome.wall_s};
         }},
        {{"cpu_s", false, true},
         [](const Taken& t) {
             return BatchFigure{t.report.outcome.elaboration_user_s + t.report.outcome.user_s};
         }},
    };
    return kFigures;
}

BatchStatus status_of(const RunReport& report) {
    if (!report.work_left.empty()) return BatchStatus::left;
    return report.cut_off ? BatchStatus::cut_off : BatchStatus::done;
}

std::string text_of(const BatchFigure& figure) {
    if (const auto* whole = std::get_if<std::int64_t>(&figure)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&figure)) return fmt::format("{}", *real);
    return "";
}

}  // namespace

const char* status_name(BatchStatus status) {
    switch (status) {
        case BatchStatus::done: return "done";
        case BatchStatus::cut_off: return "cut_off";
        case BatchStatus::left: return "left";
        case BatchStatus::oom: return "oom";
        case BatchStatus::refused: return "refused";
        case BatchStatus::failed: return "failed";
    }
    return "failed";
}

const std::vector<BatchFigureType>& batch_figures() {
    static const std::vector<BatchFigureType> kTypes(figures().begin(), figures().end());
    return kTypes;
}

BatchFigure figure_of(const BatchRow& row, std::string_view name) {
    for (std::size_t i = 0; i < row.figures.size(); ++i) {
        if (batch_figures()[i].name == name) return row.figures[i];
    }
    return {};
}

BatchRow row_of(std::size_t experiment, const RunReport& report, Mode mode) {
    BatchRow row;
    row.experiment = experiment;
    row.status = status_of(report);
    for (const Figure& figure : figures()) row.figures.push_back(figure.take({report, mode}));
    for (const std::string& line : report.work_left) {
        row.reason += (row.reason.empty() ? "" : "; ") + line;
    }
    return row;
}

BatchRow row_of_error(std::size_t experiment, BatchStatus status, const std::string& reason) {
    BatchRow row;
    row.experiment = experiment;
    row.status = status;
    row.reason = printable_line(reason);
    return row;
}

std::string batch_csv_header(const std::vector<std::string>& keys) {
    std::string text = "experiment,status";
    for (const std::string& key : keys) text += "," + csv_field(key);
    for (const BatchFigureType& figure : batch_figures()) text += std::string(",") + figure.name;
    return text + ",reason\n";
}

std::string batch_csv_line(const BatchRow& row) {
    std::string text = std::to_string(row.experiment) + "," + status_name(row.status);
    for (const std::string& value : row.values) text += "," + csv_field(value);
    for (std::size_t i = 0; i < batch_figures().size(); ++i) {
        text += "," + (i < row.figures.size() ? text_of(row.figures[i]) : "");
    }
    return text + "," + csv_field(row.reason) + "\n";
}

}  // namespace sluice
