// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace peers {

namespace {
constexpr unsigned kFirstPort = 10000;
}

std::vector<Flow> read_flows(const std::string& path, const Fabric& fabric) {
    std::ifstream file(path);
    std::size_t count = 0;
    if (!(file >> count)) {
        throw std::runtime_error(path + ": cannot read the number of flows");
    }
    std::vector<Flow> flows;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint16_t> of_pair;
    std::map<std::uint32_t, std::uint16_t> of_host;
    for (std::size_t i = 0; i < count; ++i) {
        Flow flow;
        unsigned priority = 0;
        if (!(file >> flow.src >> flow.dst >> priority >> flow.dport >> flow.size >> flow.start)) {
            throw std::runtime_error(path + ": flow " + std::to_string(i) + " cannot be read");
        }
        if (flow.src >= fabric.hosts() || flow.dst >= fabric.hosts() || flow.src == flow.dst ||
            flow.size == 0) {
            throw std::runtime_error(path + ": flow " + std::to_string(i) + " is impossible here");
        }
        flow.sport = static_cast<std::uint16_t>(kFirstPort + of_pair[{flow.src, flow.dst}]++);
        flow.tcp_port = static_cast<std::uint16_t>(kFirstPort + of_host[flow.src]++);
        flows.push_back(flow);
    }
    return flows;
}

SpineTable::SpineTable(const std::string& path, const Fabric& fabric,
                       const std::vector<Flow>& flows) {
    const Map listed = read(path, fabric);
    const auto copy = [&](std::uint64_t from, std::uint64_t to, std::uint32_t src) {
        const auto found = listed.find(from);
        if (found == listed.end()) {
            throw std::runtime_error(path + ": lacks a path of a flow of host " +
                                     std::to_string(src));
        }
        spines_[to] = found->second;
    };
    for (const Flow& flow : flows) {
        if (fabric.leaf_of(flow.src) == fabric.leaf_of(flow.dst)) continue;
        copy(key(flow.src, flow.dst, flow.sport), key(flow.src, flow.dst, flow.tcp_port), flow.src);
        const std::uint64_t acks = key(flow.dst, flow.src, flow.dport);
        copy(acks, acks, flow.src);
    }
}

SpineTable::Map SpineTable::read(const std::string& path, const Fabric& fabric) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != "src,dst,sport,path") {
        throw std::runtime_error(path + ": the first line must be src,dst,sport,path");
    }
    Map spines;
    const std::uint32_t first_spine = fabric.hosts() + fabric.leaves;
    while (std::getline(file, line)) {
        for (char& c : line) {
            if (c == ',' || c == '-') c = ' ';
        }
        std::istringstream fields(line);
        std::uint32_t src = 0;
        std::uint32_t dst = 0;
        std::uint16_t sport = 0;
        fields >> src >> dst >> sport;
        std::vector<std::uint32_t> path_nodes;
        for (std::uint32_t node = 0; fields >> node;) path_nodes.push_back(node);
        // Inside a leaf there is no spine to choose.
        if (path_nodes.size() == 3) continue;
        if (path_nodes.size() != 5 || path_nodes[2] < first_spine ||
            path_nodes[2] >= first_spine + fabric.spines) {
            throw std::runtime_error(path + ": not a path of this fabric: " + line);
        }
        spines[key(src, dst, sport)] = path_nodes[2] - first_spine;
    }
    return spines;
}

std::uint32_t SpineTable::spine(std::uint32_t src, std::uint32_t dst, std::uint16_t port) const {
    return spines_.at(key(src, dst, port));
}

}  // namespace peers
