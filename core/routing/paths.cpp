// SPDX-License-Identifier: Apache-2.0
#include "core/routing/paths.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text/quantity.h"

namespace sluice {
namespace {

constexpr std::string_view kHeader = "src,dst,sport,path";
constexpr std::string_view kHeaderWithAcks = "src,dst,sport,path,ack_path";

NodeId parse_node(std::string_view text, const Place& place, const Topology& topology) {
    return static_cast<NodeId>(
        parse_integer(text, place, 0, static_cast<std::int64_t>(topology.node_count()) - 1));
}

std::vector<NodeId> parse_nodes(std::string_view text, const Place& place,
                                const Topology& topology) {
    std::vector<NodeId> nodes;
    for (const std::string_view field : split_fields(text, '-')) {
        nodes.push_back(parse_node(field, place, topology));
    }
    return nodes;
}

/// Ports along `nodes`, which must be a simple path from host to host.
std::vector<PortId> ports_along(const std::vector<NodeId>& nodes, const TokenReader& reader,
                                const Topology& topology) {
    std::vector<NodeId> sorted = nodes;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        reader.fail("path visits node " + std::to_string(*twice) + " twice");
    }
    std::vector<PortId> ports;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
        if (i > 0 && topology.is_host(nodes[i])) {
            reader.fail("path passes through host " + std::to_string(nodes[i]) +
                        " (allowed: switches between the ends)");
        }
        const PortId port = port_towards(topology, nodes[i], nodes[i + 1]);
        if (port == kNone) {
            reader.fail("path: nodes " + std::to_string(nodes[i]) + " and " +
                        std::to_string(nodes[i + 1]) + " are not joined by a link");
        }
        ports.push_back(port);
    }
    return ports;
}

}  // namespace

PathTable PathTable::read(const std::string& path, const Topology& topology) {
    TokenReader reader = TokenReader::open(path);
    return read(reader, topology);
}

PathTable PathTable::read(TokenReader& reader, const Topology& topology) {
    PathTable table;
    std::string_view line;
    bool header_seen = false;
    while (reader.next_line(line)) {
        if (line.find_first_not_of(" \t") == line.npos) {
            continue;
        }
        if (!header_seen) {
            std::string fields;
            for (const std::string_view field : split_fields(line, ',')) {
                fields += (fields.empty() ? "" : ",") + std::string(field);
            }
            if (fields != kHeader && fields != kHeaderWithAcks) {
                reader.fail("header expected: " + std::string(kHeader) + ", or " +
                            std::string(kHeaderWithAcks));
            }
            header_seen = true;
            table.columns_ = fields == kHeader ? 4 : 5;
            continue;
        }
        table.read_line(line, reader, topology);
    }
    if (!header_seen) {
        reader.fail("header expected: " + std::string(kHeader));
    }
    return table;
}

void PathTable::read_line(std::string_view line, const TokenReader& reader,
                          const Topology& topology) {
    const std::vector<std::string_view> fields = split_fields(line, ',');
    if (fields.size() != columns_) {
        reader.fail(std::to_string(fields.size()) +
                    " fields (allowed: " + std::to_string(columns_) + ", " +
                    std::string(columns_ == 4 ? kHeader : kHeaderWithAcks) + ")");
    }
    Key key{};
    key.src = parse_node(fields[0], reader.place("src"), topology);
    key.dst = parse_node(fields[1], reader.place("dst"), topology);
    key.sport =
        static_cast<std::uint16_t>(parse_integer(fields[2], reader.place("sport"), 0, 65535));
    for (const NodeId end : {key.src, key.dst}) {
        if (!topology.is_host(end)) {
            reader.fail("node " + std::to_string(end) + " is not a host");
        }
    }
    const std::vector<NodeId> nodes = parse_nodes(fields[3], reader.place("path"), topology);
    if (nodes.size() < 2 || nodes.front() != key.src || nodes.back() != key.dst) {
        reader.fail("path must lead from node " + std::to_string(key.src) + " to node " +
                    std::to_string(key.dst));
    }
    if (!paths_.try_emplace(key, ports_along(nodes, reader, topology)).second) {
        reader.fail("the path of this flow is given before");
    }
    if (columns_ == 4 || fields[4].empty()) {
        return;
    }
    const std::vector<NodeId> back = parse_nodes(fields[4], reader.place("ack_path"), topology);
    if (back.size() < 2 || back.front() != key.dst || back.back() != key.src) {
        reader.fail("ack_path must lead from node " + std::to_string(key.dst) + " to node " +
                    std::to_string(key.src));
    }
    ack_paths_[key] = ports_along(back, reader, topology);
}

const std::vector<PortId>* PathTable::find_in(const Table& table, const Key& key) {
    const auto found = table.find(key);
    return found == table.end() ? nullptr : &found->second;
}

const std::vector<PortId>* PathTable::find(NodeId src, NodeId dst, std::uint16_t sport) const {
    return find_in(paths_, Key{src, dst, sport});
}

const std::vector<PortId>* PathTable::find_ack(NodeId src, NodeId dst, std::uint16_t sport) const {
    return find_in(ack_paths_, Key{src, dst, sport});
}

std::size_t PathTable::KeyHash::operator()(const Key& key) const {
    const std::uint64_t pair = static_cast<std::uint64_t>(key.src) << 32 | key.dst;
    return static_cast<std::size_t>(
        (pair ^ static_cast<std::uint64_t>(key.sport) << 16) * 0x9e3779b97f4a7c15U >> 16);
}

std::vector<FlowPath> paths_of(const PathTable& table, const std::vector<FlowSpec>& flows,
                               std::size_t& unlisted) {
    std::vector<FlowPath> paths(flows.size());
    unlisted = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const FlowSpec& flow = flows[i];
        const std::vector<PortId>* const forward = table.find(flow.src, flow.dst, flow.sport);
        const std::vector<PortId>* reverse = table.find_ack(flow.src, flow.dst, flow.sport);
        if (reverse == nullptr) {
            reverse = table.find(flow.dst, flow.src, flow.dport);
        }
        if (forward != nullptr) {
            paths[i].forward = *forward;
        }
        if (reverse != nullptr) {
            paths[i].reverse = *reverse;
        }
        unlisted += forward == nullptr ? 1 : 0;
    }
    return paths;
}

PortId port_towards(const Topology& topology, NodeId from, NodeId to) {
    for (PortId port = topology.first_port(from); port < topology.first_port(from + 1); ++port) {
        if (topology.neighbor(port) == to) {
            return port;
        }
    }
    return kNone;
}

}  // namespace sluice
