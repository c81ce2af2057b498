// SPDX-License-Identifier: Apache-2.0
#include "report/network.h"

#include <algorithm>
#include <cmath>

#include "core/topology/link_class.h"
#include "core/topology/node_names.h"
#include "report/layout.h"
#include "report/link_series.h"

namespace sluice::report {

namespace {

double rounded(double value, double parts) { return std::round(value * parts) / parts; }

/// By heat: utilization first, then queues and pauses.
std::vector<PortId> by_heat(const RunFiles& run) {
    std::vector<PortId> order(run.ports.size());
    for (PortId port = 0; port < order.size(); ++port) order[port] = port;
    std::stable_sort(order.begin(), order.end(), [&](PortId a, PortId b) {
        const PortFigures& left = run.ports[a];
        const PortFigures& right = run.ports[b];
        if (left.utilization != right.utilization) return left.utilization > right.utilization;
        if (left.max_queue_bytes != right.max_queue_bytes) {
            return left.max_queue_bytes > right.max_queue_bytes;
        }
        return left.paused > right.paused;
    });
    return order;
}

Json node_groups(const NodeNames& names) {
    Json groups = Json::array();
    for (const NodeNames::Group& group : names.groups()) {
        groups.push_back({{"prefix", group.prefix}, {"nodes", group.nodes}});
    }
    return groups;
}

Json link_columns(const RunFiles& run, const FlowPaths& paths, const LinkClasses& classes,
                  const std::vector<PortId>& drawn) {
    Json columns;
    for (const char* name : {"port", "from", "to", "class", "rate", "bytes", "use", "queue",
                             "marks", "drops", "paused", "flows"}) {
        columns[name] = Json::array();
    }
    for (const PortId port : drawn) {
        const PortFigures& figures = run.ports[port];
        columns["port"].push_back(port);
        columns["from"].push_back(run.topology.node_of(port));
        columns["to"].push_back(run.topology.neighbor(port));
        columns["class"].push_back(classes.class_of(run.topology.link_of(port)));
        columns["rate"].push_back(run.topology.rate(port).bits_per_second);
        columns["bytes"].push_back(figures.tx_bytes);
        columns["use"].push_back(rounded(figures.utilization, 1e6));
        columns["queue"].push_back(figures.max_queue_bytes);
        columns["marks"].push_back(figures.ecn_marks);
        columns["drops"].push_back(figures.drops);
        columns["paused"].push_back(static_cast<double>(figures.paused) /
                                    static_cast<double>(kSecond));
        columns["flows"].push_back(paths.flows[port]);
    }
    return columns;
}

template <typename Value>
PortId most_of(const RunFiles& run, const Value& value) {
    PortId best = kNone;
    for (PortId port = 0; port < run.ports.size(); ++port) {
        if (value(run.ports[port]) <= 0) continue;
        if (best == kNone || value(run.ports[port]) > value(run.ports[best])) best = port;
    }
    return best;
}

}  // namespace

HotPorts hot_ports(const RunFiles& run) {
    return {most_of(run, [](const PortFigures& port) { return port.utilization; }),
            most_of(run, [](const PortFigures& port) { return port.max_queue_bytes; }),
            most_of(run, [](const PortFigures& port) { return port.paused; })};
}

std::string link_name(const RunFiles& run, PortId port) {
    const NodeNames names(run.topology);
    return names[run.topology.node_of(port)] + " to " + names[run.topology.neighbor(port)];
}

Json network_picture(const RunFiles& run, const FlowPaths& paths, double end_s) {
    const NodeNames names(run.topology);
    const LinkClasses classes(run.topology);
    const Layout layout = layout_of(run);
    std::vector<PortId> hottest = by_heat(run);
    std::vector<PortId> drawn = hottest;
    if (drawn.size() > kMostDrawnPorts) drawn.resize(kMostDrawnPorts);
    std::sort(drawn.begin(), drawn.end());
    std::vector<double> x;
    std::vector<double> y;
    for (const Point& point : layout.points) {
        x.push_back(rounded(point.x, 1e5));
        y.push_back(rounded(point.y, 1e5));
    }
    Json class_names = Json::array();
    for (const LinkClass& link_class : classes.classes()) class_names.push_back(link_class.name);
    hottest.resize(std::min(hottest.size(), kMostSeries));
    return {{"layout", layout.kind},
            {"groups", node_groups(names)},
            {"x", std::move(x)},
            {"y", std::move(y)},
            {"classes", std::move(class_names)},
            {"queues", run.queues},
            {"links", link_columns(run, paths, classes, drawn)},
            {"left_out", run.ports.size() - drawn.size()},
            {"hottest", hottest},
            {"paths_unknown", paths.unknown},
            {"series", link_series(run, paths, hottest, end_s)}};
}

}  // namespace sluice::report
