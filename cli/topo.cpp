// SPDX-License-Identifier: Apache-2.0
/// `sluice topo TYPE`: a builder's network as a topology.txt of HPCC ns-3 or SimAI. Its options are
/// the keys of a scenario's [topology] table, read by the same code, so both are checked and
/// explained alike. `sluice topo --file FILE`: such a file, checked or written anew.
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "cli/commands.h"
#include "core/config/import_report.h"
#include "core/config/quantity.h"
#include "core/config/scenario_topology.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/topology/link_class.h"
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
    const LinkClasses classes(topology);
    std::map<std::tuple<std::size_t, std::int64_t, Tick>, std::size_t> kinds;
    for (LinkId id = 0; id < topology.links().size(); ++id) {
        const Link& link = topology.links()[id];
        ++kinds[{classes.class_of(id), link.rate.bits_per_second, link.delay}];
    }
    for (const auto& [kind, count] : kinds) {
        const auto& [cls, rate, delay] = kind;
        fmt::print("  {} {} links of {}, {}\n", count, classes.classes()[cls].name,
                   format_rate({rate}), format_time(delay));
    }
}

}  // namespace

namespace {

Topology build_by_type(const TopoOptions& options) {
    ConfigValue table;
    table.at.source = std::make_shared<const std::string>("topo " + options.type);
    override_config(table, "type=\"" + options.type + "\"", "topo");
    for (const auto& [key, value] : options.settings) {
        override_config(table, key + "=" + value, "topo option");
    }
    EffectiveConfig effective;
    return build_topology(ConfigSection(table, effective, "topology"),
                          [](const std::string& file) { return file; });
}

void write_topology(const TopoOptions& options, const Topology& topology) {
    const TopologyFormat format = options.format == "hpcc"    ? TopologyFormat::hpcc
                                  : options.format == "simai" ? TopologyFormat::simai
                                                              : TopologyFormat::automatic;
    OutputFile file(options.output);
    file << format_topology(topology, format);
    file.commit();
    fmt::print("written to {}\n", options.output);
}

void check_options(const TopoOptions& options) {
    if (options.type.empty() == options.file.empty()) {
        throw ConfigError("topo: needs a type, such as fat-tree, or --file FILE");
    }
    if (!options.file.empty() && !options.settings.empty()) {
        throw ConfigError("topo --file: takes no --" + options.settings.front().first +
                          "; the file says what the network is");
    }
    if (options.check && options.file.empty()) {
        throw ConfigError("topo --check: needs --file FILE");
    }
    if (!options.format.empty() && options.output.empty()) {
        throw ConfigError("topo --format: needs -o FILE to write to");
    }
}

}  // namespace

int topo_command(const TopoOptions& options) {
    check_options(options);
    ImportReport report;
    const Topology topology =
        options.file.empty() ? build_by_type(options) : read_topology(options.file, &report);
    if (options.check) {
        fmt::print("{}", report.text());
    } else {
        print_counts(topology);
    }
    if (!options.output.empty()) write_topology(options, topology);
    return options.check && report.count(ImportNote::Kind::misfit) > 0 ? kExitBadInput : kExitDone;
}

}  // namespace sluice
