// SPDX-License-Identifier: Apache-2.0
/// `sluice topo TYPE`: a builder's network as an HPCC topology.txt. Its options are the keys of a
/// scenario's [topology] table, read by the same code, so both are checked and explained alike.
#include <map>

#include <fmt/core.h>

#include "cli/commands.h"
#include "core/config/quantity.h"
#include "core/config/scenario_topology.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/topology/topology_io.h"

namespace sluice {

namespace {

void print_counts(const Topology& topology) {
    std::size_t switches = 0;
    std::size_t nvswitches = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        switches += topology.kind(node) == NodeKind::ethernet ? 1U : 0U;
        nvswitches += topology.kind(node) == NodeKind::nvswitch ? 1U : 0U;
    }
    fmt::print("{}: {} hosts, {} switches, {} links", topology.name, topology.host_count(),
               switches, topology.links().size());
    if (nvswitches > 0) fmt::print(", {} NVSwitches", nvswitches);
    fmt::print("\n");
    std::map<std::pair<std::int64_t, Tick>, std::size_t> kinds;
    for (const Link& link : topology.links()) {
        ++kinds[{link.rate.bits_per_second, link.delay}];
    }
    for (const auto& [kind, count] : kinds) {
        fmt::print("  {} links of {}, {}\n", count, format_rate({kind.first}),
                   format_time(kind.second));
    }
}

}  // namespace

int topo_command(const TopoOptions& options) {
    ConfigValue table;
    table.at.source = std::make_shared<const std::string>("topo " + options.type);
    override_config(table, "type=\"" + options.type + "\"", "topo");
    for (const auto& [key, value] : options.settings) {
        override_config(table, key + "=" + value, "topo option");
    }
    EffectiveConfig effective;
    const Topology topology = build_topology(ConfigSection(table, effective, "topology"),
                                             [](const std::string& file) { return file; });
    print_counts(topology);
    if (!options.output.empty()) {
        OutputFile file(options.output);
        file << format_topology(topology);
        file.commit();
        fmt::print("written to {}\n", options.output);
    }
    return kExitDone;
}

}  // namespace sluice
