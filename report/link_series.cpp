// SPDX-License-Identifier: Apache-2.0
#include "report/link_series.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/results/csv_reader.h"
#include "report/steps.h"

namespace sluice::report {

namespace {

constexpr std::size_t kLinkSteps = 160;

struct Series {
    std::vector<double> bytes = std::vector<double>(kLinkSteps, 0);
    std::vector<double> queue = std::vector<double>(kLinkSteps, 0);
};

using SeriesByPort = std::map<PortId, Series>;

/// Largest queue of a step, bytes sent in it.
void read_series(const RunFiles& run, double step, SeriesByPort& series) {
    CsvReader rows(run.file("series.csv"), {"time_ps", "port", "queue_bytes", "tx_bytes"});
    while (rows.next()) {
        const auto found = series.find(static_cast<PortId>(rows.number(1)));
        if (found == series.end()) continue;
        const double time = to_seconds(rows.number(0));
        // A row is of the time before it.
        const std::size_t i =
            std::min(kLinkSteps - 1, step_of(time * (1 - 1e-9), step, kLinkSteps));
        Series& of_port = found->second;
        of_port.bytes[i] += static_cast<double>(rows.number(3));
        of_port.queue[i] = std::max(of_port.queue[i], static_cast<double>(rows.number(2)));
    }
}

void add_flow(const FinishedFlow& flow, double step, std::vector<double>& bytes) {
    const double from = to_seconds(flow.start);
    const double to = to_seconds(flow.finish);
    if (to > from)
        spread(bytes, step, from, to, static_cast<double>(flow.size) / (to - from) * step);
}

void estimate_series(const RunFiles& run, const FlowPaths& paths, double step,
                     SeriesByPort& series) {
    for (std::size_t i = 0; i < paths.ports.size(); ++i) {
        for (const PortId port : paths.ports[i]) {
            const auto found = series.find(port);
            if (found != series.end()) add_flow(run.flows[i], step, found->second.bytes);
        }
    }
}

}  // namespace

Json link_series(const RunFiles& run, const FlowPaths& paths, const std::vector<PortId>& ports,
                 double end_s) {
    const bool measured = run.has("series.csv");
    if (end_s <= 0 || (!measured && !paths.unknown.empty())) return nullptr;
    const double step = end_s / static_cast<double>(kLinkSteps);
    SeriesByPort series;
    for (const PortId port : ports) {
        if (run.ports[port].tx_bytes > 0) series[port];
    }
    if (measured) {
        read_series(run, step, series);
    } else {
        estimate_series(run, paths, step, series);
    }
    Json by_port = Json::object();
    for (const auto& [port, of_port] : series) {
        const double whole =
            static_cast<double>(run.topology.rate(port).bits_per_second) / 8 * step;
        Json use = Json::array();
        for (const double bytes : of_port.bytes) {
            use.push_back(std::round(bytes / whole * 1000) / 1000);
        }
        by_port[std::to_string(port)] = {{"use", std::move(use)},
                                         {"queue", measured ? Json(of_port.queue) : Json(nullptr)}};
    }
    return {{"step", step}, {"measured", measured}, {"ports", std::move(by_port)}};
}

}  // namespace sluice::report
