// SPDX-License-Identifier: Apache-2.0
#include "report/layout.h"

#include <algorithm>
#include <cmath>

#include "core/topology/forwarding_hosts.h"
#include "core/topology/link_class.h"

namespace sluice::report {

namespace {

constexpr double kTurn = 6.283185307179586;
/// Of a circle of switches, about (0.5, 0.48): hosts hang below.
constexpr double kRadius = 0.36;

std::vector<NodeId> packet_switches(const Topology& topology) {
    std::vector<NodeId> switches;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::ethernet) switches.push_back(node);
    }
    return switches;
}

/// A gap as wide as a host after each server, or after each switch's hosts where a server is one host.
std::vector<double> host_places(const Topology& topology) {
    std::vector<double> places;
    double at = 0;
    NodeId last_switch = kNone;
    const std::size_t per_server = topology.gpus_per_server;
    for (std::size_t i = 0; i < topology.host_count(); ++i) {
        const NodeId host = topology.hosts()[i];
        const NodeId up = topology.port_count(host) > 0
                              ? port_cable(topology, topology.first_port(host)).end
                              : kNone;
        const bool gap = per_server > 1 ? i % per_server == 0 : up != last_switch;
        if (i > 0 && gap) at += 1;
        last_switch = up;
        places.push_back(at);
        at += 1;
    }
    for (double& place : places) place = (place + 0.5) / std::max(at, 1.0);
    return places;
}

Layout tiers(const Topology& topology) {
    Layout layout{"tiers", std::vector<Point>(topology.node_count())};
    const std::vector<std::uint32_t> tier = switch_tiers(topology);
    const std::uint32_t most = *std::max_element(tier.begin(), tier.end());
    std::vector<std::vector<NodeId>> rows(most + 1);
    std::vector<NodeId> nvswitches;
    std::vector<NodeId> ports;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) {
            nvswitches.push_back(node);
        } else if (owner_of(topology, node) != node) {
            ports.push_back(node);
        } else if (!topology.is_host(node)) {
            // What no host reaches is drawn above all.
            rows[tier[node] == 0 ? most : tier[node]].push_back(node);
        }
    }
    const double levels = most + (nvswitches.empty() ? 1 : 2);
    const double hosts_at = most + 0.5;
    const auto spread = [&](const std::vector<NodeId>& row, double level) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            layout.points[row[i]] = {
                (static_cast<double>(i) + 0.5) / static_cast<double>(row.size()), level / levels};
        }
    };
    for (std::uint32_t t = 1; t <= most; ++t) spread(rows[t], most - t + 0.5);
    spread(nvswitches, hosts_at + 1);
    const std::vector<double> places = host_places(topology);
    for (std::size_t i = 0; i < places.size(); ++i) {
        layout.points[topology.hosts()[i]] = {places[i], hosts_at / levels};
    }
    for (const NodeId port : ports) layout.points[port] = layout.points[owner_of(topology, port)];
    return layout;
}

/// Hosts in a small row below the switch that they hang on.
void hang_hosts(const Topology& topology, double width, double below, Layout& layout) {
    std::vector<std::uint32_t> hung(topology.node_count(), 0);
    std::vector<std::uint32_t> place(topology.node_count(), 0);
    const auto up = [&](NodeId host) { return topology.neighbor(topology.first_port(host)); };
    for (const NodeId host : topology.hosts()) {
        if (topology.port_count(host) > 0) place[host] = hung[up(host)]++;
    }
    for (const NodeId host : topology.hosts()) {
        if (topology.port_count(host) == 0) continue;
        const Point at = layout.points[up(host)];
        const double share = (place[host] + 0.5) / hung[up(host)] - 0.5;
        layout.points[host] = {at.x + share * width, at.y + below};
    }
}

Layout torus(const Topology& topology, const std::vector<std::size_t>& sides) {
    Layout layout{"torus", std::vector<Point>(topology.node_count())};
    const std::size_t planes = sides.size() > 2 ? sides[2] : 1;
    const auto columns =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(planes))));
    const std::size_t plane_rows = (planes + columns - 1) / columns;
    const double width = 1.0 / static_cast<double>(columns * (sides[0] + 1));
    const double height = 1.0 / static_cast<double>(plane_rows * (sides[1] + 1));
    std::size_t i = 0;
    for (const NodeId node : packet_switches(topology)) {
        const std::size_t plane = i / (sides[0] * sides[1]);
        const std::size_t column = plane % columns * (sides[0] + 1) + i % sides[0];
        const std::size_t row = plane / columns * (sides[1] + 1) + i / sides[0] % sides[1];
        layout.points[node] = {(static_cast<double>(column) + 0.75) * width,
                               (static_cast<double>(row) + 0.6) * height};
        ++i;
    }
    hang_hosts(topology, width * 0.5, height * 0.3, layout);
    return layout;
}

Layout circle(const Topology& topology, std::size_t per_group) {
    Layout layout{"circle", std::vector<Point>(topology.node_count())};
    const std::vector<NodeId> switches = packet_switches(topology);
    const std::size_t groups = std::max<std::size_t>(1, switches.size() / per_group);
    const double small =
        per_group == 1 ? 0 : 0.3 * std::sin(kTurn / 2 / static_cast<double>(groups));
    for (std::size_t i = 0; i < switches.size(); ++i) {
        const double group =
            kTurn * static_cast<double>(i / per_group) / static_cast<double>(groups);
        const double inner =
            group + kTurn * static_cast<double>(i % per_group) / static_cast<double>(per_group);
        layout.points[switches[i]] = {0.5 + kRadius * std::cos(group) + small * std::cos(inner),
                                      0.48 + kRadius * std::sin(group) + small * std::sin(inner)};
    }
    hang_hosts(topology, 0.6 / static_cast<double>(switches.size()), 0.03, layout);
    return layout;
}

std::size_t whole(const RunFiles& run, const char* key) {
    const Json* const value = run.config(key);
    return value != nullptr && value->is_number_unsigned() ? value->get<std::size_t>() : 0;
}

/// Of the configuration, if the network has as many switches.
std::vector<std::size_t> torus_sides(const RunFiles& run) {
    const Json* const list = run.config("topology.dimensions");
    std::vector<std::size_t> sides;
    if (list == nullptr || !list->is_array()) return sides;
    std::size_t product = 1;
    for (const Json& side : *list) {
        sides.push_back(side.is_number_unsigned() ? side.get<std::size_t>() : 0);
        product *= sides.back();
    }
    if (sides.size() < 2 || product != packet_switches(run.topology).size()) sides.clear();
    return sides;
}

}  // namespace

Layout layout_of(const RunFiles& run) {
    const std::string type = run.config_text("topology.type");
    if (type == "torus") {
        const std::vector<std::size_t> sides = torus_sides(run);
        if (!sides.empty()) return torus(run.topology, sides);
    }
    if (type == "full-mesh") return circle(run.topology, 1);
    if (type == "dragonfly") {
        const std::size_t routers = whole(run, "topology.routers_per_group");
        if (routers > 0) return circle(run.topology, routers);
    }
    return tiers(run.topology);
}

}  // namespace sluice::report
