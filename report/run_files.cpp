// SPDX-License-Identifier: Apache-2.0
#include "report/run_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/results/csv_reader.h"

namespace sluice::report {

namespace {

/// Of ports.csv; a network has fewer.
constexpr std::int64_t kMostIds = std::int64_t{1} << 28;

void read_flows(RunFiles& run) {
    const std::string path = run.file("flows.csv");
    FinishedFlows finished =
        read_finished_flows(path, {"flow", "src", "dst", "sport", "dport", "label", "size_bytes",
                                   "start_ps", "received_ps", "finish_ps", "ideal_ps", "fct_ps"});
    const std::size_t nodes = run.topology.node_count();
    for (const FinishedFlow& flow : finished.flows) {
        if (flow.key.src >= nodes || flow.key.dst >= nodes) {
            throw ConfigError(
                path, 0,
                "flow " + std::to_string(flow.flow) + " ends at a node that ports.csv lacks");
        }
    }
    run.classes = std::move(finished.classes);
    run.flows = std::move(finished.flows);
}

/// Of a node that stands for a port of a host that forwards.
constexpr const char* kPortKind = "port";

NodeKind kind_of(const std::string& name, const std::string& path) {
    if (name == "host") return NodeKind::host;
    if (name == "switch" || name == kPortKind) return NodeKind::ethernet;
    if (name == "nvswitch") return NodeKind::nvswitch;
    throw ConfigError(path, 0, "'" + name + "' is no kind of node: host, port, switch or nvswitch");
}

/// Of ports, whose host their second link leads to (core/topology/forwarding_hosts.cpp).
void own_ports(Topology& topology, const std::vector<NodeId>& ports, const std::string& path) {
    if (ports.empty()) return;
    topology.port_owner.assign(topology.node_count(), kNone);
    for (const NodeId port : ports) {
        if (topology.port_count(port) < 2 ||
            !topology.is_host(topology.neighbor(topology.first_port(port) + 1))) {
            throw ConfigError(path, 0, "port " + std::to_string(port) + " belongs to no host");
        }
        topology.port_owner[port] = topology.neighbor(topology.first_port(port) + 1);
    }
}

struct PortRow {
    NodeId node = 0;
    NodeId peer = 0;
    Rate rate;
};

/// The cables, in an order in which the ports of every node are numbered as in the file: a cable is added when it is the
/// next one at both of its ends.
void add_links(Topology& topology, const std::vector<PortRow>& rows, const std::string& path) {
    std::vector<std::size_t> next(topology.node_count(), rows.size());
    for (std::size_t i = rows.size(); i-- > 0;) next[rows[i].node] = i;
    const auto at = [&](NodeId node) -> const PortRow* {
        return next[node] < rows.size() && rows[next[node]].node == node ? &rows[next[node]]
                                                                         : nullptr;
    };
    std::vector<NodeId> ready;
    for (NodeId node = 0; node < topology.node_count(); ++node) ready.push_back(node);
    while (!ready.empty()) {
        const NodeId node = ready.back();
        ready.pop_back();
        while (const PortRow* const port = at(node)) {
            const PortRow* const other = at(port->peer);
            if (other == nullptr || other->peer != node) break;
            topology.add_link({node, port->peer, port->rate, 0, 0});
            ++next[node];
            ++next[port->peer];
            ready.push_back(port->peer);
        }
    }
    if (topology.links().size() * 2 != rows.size()) {
        throw ConfigError(path, 0, "its ports do not pair up: a row is missing");
    }
}

void read_ports(RunFiles& run) {
    const std::string path = run.file("ports.csv");
    CsvReader rows(path, {"node", "kind", "peer", "rate_bps", "tx_bytes", "utilization",
                          "max_queue_bytes", "ecn_marks", "drops", "paused_ps"});
    std::vector<PortRow> ports;
    std::map<NodeId, NodeKind> kinds;
    std::vector<NodeId> host_ports;
    NodeId most = 0;
    while (rows.next()) {
        if (rows.number(0) > kMostIds || rows.number(2) > kMostIds) {
            throw ConfigError(path, 0, "a node's number is above " + std::to_string(kMostIds));
        }
        const PortRow port{static_cast<NodeId>(rows.number(0)), static_cast<NodeId>(rows.number(2)),
                           Rate{rows.number(3)}};
        if (!ports.empty() && port.node < ports.back().node) {
            throw ConfigError(path, 0, "its rows are not in the order of nodes");
        }
        const bool is_new = kinds.emplace(port.node, kind_of(rows.text(1), path)).second;
        if (is_new && rows.text(1) == kPortKind) host_ports.push_back(port.node);
        most = std::max({most, port.node, port.peer});
        ports.push_back(port);
        PortFigures figures;
        figures.tx_bytes = rows.number(4);
        if (!rows.empty(5)) figures.utilization = rows.real(5);
        if (!rows.empty(6)) {
            run.queues = true;
            figures.max_queue_bytes = rows.number(6);
            figures.ecn_marks = rows.number(7);
            figures.drops = rows.number(8);
            figures.paused = rows.number(9);
        }
        run.ports.push_back(figures);
    }
    if (ports.empty()) throw ConfigError(path, 0, "has no port");
    if (most >= 2 * ports.size() + kinds.size()) {
        throw ConfigError(path, 0,
                          "names node " + std::to_string(most) + ", but has only " +
                              std::to_string(ports.size()) + " ports");
    }
    for (NodeId node = 0; node <= most; ++node) {
        const auto found = kinds.find(node);
        run.topology.add_node(found == kinds.end() ? NodeKind::ethernet : found->second);
    }
    add_links(run.topology, ports, path);
    run.topology.finish();
    own_ports(run.topology, host_ports, path);
}

void require_whole(const RunFiles& run) {
    for (const char* key : {"scenario", "mode", "jct_s", "simulated_s", "fct_s", "config"}) {
        if (!run.summary.contains(key)) {
            throw ConfigError(run.file("summary.json"), 0,
                              std::string("is no summary of a run: it has no ") + key);
        }
    }
}

}  // namespace

std::string RunFiles::file(const char* name) const {
    return (std::filesystem::path(folder) / name).string();
}

bool RunFiles::has(const char* name) const {
    std::error_code error;
    return std::filesystem::is_regular_file(file(name), error);
}

const Json* RunFiles::config(const std::string& key) const {
    const Json* value = &summary.at("config");
    std::size_t from = 0;
    while (from <= key.size()) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        const std::string name = key.substr(from, dot - from);
        if (!value->is_object() || !value->contains(name)) return nullptr;
        value = &value->at(name);
        from = dot + 1;
    }
    return value;
}

std::string RunFiles::config_text(const std::string& key) const {
    const Json* const value = config(key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

double number(const Json& object, const char* key) {
    return object.contains(key) && object.at(key).is_number() ? object.at(key).get<double>() : 0;
}

Json read_json(const std::string& path) {
    std::ifstream in(path);
    if (!in) throw ConfigError(path, 0, "cannot be read");
    Json json = Json::parse(in, nullptr, false);
    if (json.is_discarded()) throw ConfigError(path, 0, "is no JSON, or cut off");
    if (!json.is_object()) throw ConfigError(path, 0, "is no JSON object");
    return json;
}

RunFiles read_run_files(const std::string& folder) {
    RunFiles run;
    run.folder = folder;
    run.summary = read_json(run.file("summary.json"));
    require_whole(run);
    read_ports(run);
    if (const Json* const gpus = run.config("topology.gpus_per_server");
        gpus != nullptr && gpus->is_number_unsigned()) {
        run.topology.gpus_per_server = std::max(1U, gpus->get<std::uint32_t>());
    }
    if (run.has("flows.csv")) read_flows(run);
    return run;
}

}  // namespace sluice::report
