// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology_file.h"

#include <utility>

#include "core/text/tokens.h"
#include "core/topology/htsim_topology.h"
#include "core/topology/topology_io.h"

namespace sluice {

namespace {

/// `skipped` is "file:line: key" a line.
void report_htsim(const std::string& path, const Topology& topology,
                  const std::vector<std::string>& skipped, ImportReport& report) {
    report.read(path, std::to_string(topology.host_count()) + " hosts, " +
                          std::to_string(topology.node_count() - topology.host_count()) +
                          " switches, " + std::to_string(topology.links().size()) + " links");
    for (const std::string& line : skipped) {
        const std::size_t name = line.rfind(": ");
        report.skipped(line.substr(0, name), line.substr(name + 2));
    }
}

}  // namespace

Topology read_topology_file(const std::string& path, ImportReport* report) {
    TokenReader reader = TokenReader::open(path);
    if (!is_htsim_topology(reader)) return read_topology(path, report);
    std::vector<std::string> skipped;
    Topology topology = read_htsim_topology(std::move(reader), skipped);
    if (report != nullptr) report_htsim(path, topology, skipped, *report);
    return topology;
}

}  // namespace sluice
