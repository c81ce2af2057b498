// SPDX-License-Identifier: Apache-2.0
#include "report/link_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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

/// What a port can send in a step.
double bytes_of_step(const RunFiles& run, PortId port, double step) {
    return static_cast<double>(run.topology.rate(port).bits_per_second) / 8 * step;
}

/// Largest queue of a step, bytes sent in it.
void read_series(const RunFiles& run, double step, SeriesByPort& series) {
    CsvReader rows(run.file("series.csv"),
                   {"time_ps", "port", "queue_bytes", "tx_bytes", "utilization"});
    while (rows.next()) {
        const auto port = static_cast<PortId>(rows.number(1));
        const auto found = series.find(port);
        if (found == series.end()) continue;
        Series& of_port = found->second;
        const double end = to_seconds(rows.number(0));
        const auto bytes = static_cast<double>(rows.number(3));
        // A row is of the time before it, in which the port could have sent bytes / utilization.
        const double length =
            rows.real(4) > 0 ? bytes / rows.real(4) / bytes_of_step(run, port, 1) : 0;
        const double from = std::max(0.0, end - length);
        if (end > from) spread(of_port.bytes, step, from, end, bytes / (end - from) * step);
        const std::size_t i = std::min(kLinkSteps - 1, step_of(end * (1 - 1e-9), step, kLinkSteps));
        of_port.queue[i] = std::max(of_port.queue[i], static_cast<double>(rows.number(2)));
    }
}

/// Bytes on the wire of a flow's packets and of their ACKs.
struct Frames {
    double data = 0;
    double acks = 0;
};

class FrameSizes {
  public:
    explicit FrameSizes(const RunFiles& run) {
        const Json none = Json::object();
        const auto section = [&](const char* key) -> const Json& {
            const Json* const found = run.config(key);
            return found != nullptr && found->is_object() ? *found : none;
        };
        const Json& sizes = section("network.packet");
        if (const double bytes = number(section("network"), "payload"); bytes > 0) payload_ = bytes;
        header_ = number(sizes, "header") + number(sizes, "extra_header");
        ack_ = number(sizes, "ack") / std::max(1.0, number(section("network.nic"), "ack_every"));
    }
    Frames of(std::int64_t size) const {
        const double packets = std::ceil(static_cast<double>(size) / payload_);
        return {static_cast<double>(size) + packets * header_, packets * ack_};
    }

  private:
    double payload_ = 1000;
    double header_ = 0;
    double ack_ = 0;
};

void add_bytes(const FinishedFlow& flow, double bytes, double step, std::vector<double>& steps) {
    const double from = to_seconds(flow.start);
    const double to = to_seconds(flow.finish);
    if (to > from) spread(steps, step, from, to, bytes / (to - from) * step);
}

/// Moves what a step has above `most` to the nearest steps that have room, those in which anything is sent first: a flow
/// at its mean rate is drawn too fast where it had to share.
void level(std::vector<double>& steps, double most) {
    for (const bool idle_too : {false, true}) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto give = [&](std::size_t to) {
                if (steps[to] >= most || (steps[to] <= 0 && !idle_too)) return;
                const double moved = std::min(steps[i] - most, most - steps[to]);
                steps[to] += moved;
                steps[i] -= moved;
            };
            for (std::size_t far = 1; far < steps.size() && steps[i] > most; ++far) {
                if (i + far < steps.size()) give(i + far);
                if (far <= i && steps[i] > most) give(i - far);
            }
        }
    }
}

void estimate_series(const RunFiles& run, const FlowPaths& paths, double step, bool whole,
                     SeriesByPort& series) {
    const FrameSizes sizes(run);
    for (std::size_t i = 0; i < paths.ports.size(); ++i) {
        const Frames frames = sizes.of(run.flows[i].size);
        const auto add = [&](const std::vector<PortId>& ports, double bytes) {
            for (const PortId port : ports) {
                const auto found = series.find(port);
                if (found != series.end())
                    add_bytes(run.flows[i], bytes, step, found->second.bytes);
            }
        };
        add(paths.ports[i], frames.data);
        add(paths.ack_ports[i], frames.acks);
    }
    for (auto of_port = series.begin(); of_port != series.end();) {
        const PortId port = of_port->first;
        std::vector<double>& bytes = of_port->second.bytes;
        const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0);
        // Of what no flow explains nothing says when it was sent.
        if (sum <= 0) {
            of_port = series.erase(of_port);
            continue;
        }
        if (whole) {
            const double factor = static_cast<double>(run.ports[port].tx_bytes) / sum;
            for (double& value : bytes) value *= factor;
        }
        level(bytes, bytes_of_step(run, port, step));
        ++of_port;
    }
}

}  // namespace

Json link_series(const RunFiles& run, const FlowPaths& paths, const std::vector<PortId>& ports,
                 double end_s) {
    const bool measured = run.has("series.csv");
    if (end_s <= 0 || (!measured && !paths.unknown.empty())) return nullptr;
    const double step = end_s / static_cast<double>(kLinkSteps);
    const bool whole = number(run.summary, "flows_completed") >= number(run.summary, "flows");
    SeriesByPort series;
    for (const PortId port : ports) {
        if (run.ports[port].tx_bytes > 0) series[port];
    }
    if (measured) {
        read_series(run, step, series);
    } else {
        estimate_series(run, paths, step, whole, series);
    }
    Json by_port = Json::object();
    for (const auto& [port, of_port] : series) {
        const double full = bytes_of_step(run, port, step);
        double peak = 0;
        Json use = Json::array();
        for (const double bytes : of_port.bytes) {
            use.push_back(std::round(bytes / full * 1e4) / 1e4);
            peak = std::max(peak, use.back().get<double>());
        }
        by_port[std::to_string(port)] = {{"use", std::move(use)},
                                         {"peak", measured || whole ? Json(peak) : Json(nullptr)},
                                         {"queue", measured ? Json(of_port.queue) : Json(nullptr)}};
    }
    return {
        {"step", step}, {"measured", measured}, {"whole", whole}, {"ports", std::move(by_port)}};
}

}  // namespace sluice::report
