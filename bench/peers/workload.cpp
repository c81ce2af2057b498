// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace peers {

std::vector<Flow> read_flows(const std::string& path, const Fabric& fabric) {
    std::ifstream file(path);
    std::size_t count = 0;
    if (!(file >> count)) {
        throw std::runtime_error(path + ": cannot read the number of flows");
    }
    std::vector<Flow> flows;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint16_t> next_port;
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
        auto [port, first] = next_port.try_emplace({flow.src, flow.dst}, std::uint16_t{10000});
        flow.sport = first ? port->second : ++port->second;
        flows.push_back(flow);
    }
    return flows;
}

SpineTable::SpineTable(const std::string& path, const Fabric& fabric) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != "src,dst,sport,path") {
        throw std::runtime_error(path + ": the first line must be src,dst,sport,path");
    }
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
        spines_[key(src, dst, sport)] = path_nodes[2] - first_spine;
    }
}

std::uint32_t SpineTable::spine(std::uint32_t src, std::uint32_t dst, std::uint16_t sport) const {
    const auto found = spines_.find(key(src, dst, sport));
    if (found == spines_.end()) {
        throw std::runtime_error("no path for " + std::to_string(src) + " to " +
                                 std::to_string(dst) + " from port " + std::to_string(sport));
    }
    return found->second;
}

}  // namespace peers
