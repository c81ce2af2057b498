// SPDX-License-Identifier: Apache-2.0
/// `sluice topo TYPE`: a builder's network as a topology.txt of HPCC ns-3 or SimAI. Its options are
/// the keys of a scenario's [topology] table, read by the same code, so both are checked and
/// explained alike. `sluice topo --file FILE`: such a file, checked or written anew.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/text/import_report.h"
#include "core/text/quantity.h"
#include "core/topology/forwarding_hosts.h"
#include "core/topology/link_class.h"
#include "core/topology/node_names.h"
#include "core/topology/topology_file.h"
#include "core/topology/topology_io.h"
#include "scenario/topology_section.h"

namespace sluice {

namespace {

struct TopoOptions {
    std::string type;  ///< empty with file
    std::string file;  ///< a topology.txt, in place of a type and its keys
    /// Keys and values of a scenario's [topology] table.
    std::vector<std::pair<std::string, std::string>> settings;
    std::string output;  ///< the topology.txt to write; empty: counts only
    std::string format;  ///< of the output: "hpcc", "simai"; empty: what the network needs
    bool check = false;  ///< of the file: says what was read, skipped and does not fit
};

/// "--k 8 --rate=100Gbps" as keys and values of a [topology] table.
std::vector<std::pair<std::string, std::string>> topology_settings(
    const std::vector<std::string>& words) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.size() < 3 || word.compare(0, 2, "--") != 0) {
            throw ConfigError("topo: expected --KEY VALUE, not \"" + word + "\"");
        }
        const std::size_t equals = word.find('=');
        std::string key = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        std::replace(key.begin(), key.end(), '-', '_');
        if (equals != std::string::npos) {
            settings.emplace_back(key, word.substr(equals + 1));
        } else if (i + 1 < words.size()) {
            settings.emplace_back(key, words[++i]);
        } else {
            throw ConfigError("topo: --" + key + " needs a value");
        }
    }
    return settings;
}

void print_counts(const Topology& topology) {
    const NodeCounts counts = count_nodes(topology);
    print("{}: {} hosts, {} switches, {} links", topology.name, topology.host_count(),
          counts.switches, topology.links().size());
    if (counts.nvswitches > 0) print(", {} NVSwitches", counts.nvswitches);
    if (counts.ports > 0) print(", {} ports of hosts that forward", counts.ports);
    print("\n");
    const NodeNames names(topology);
    for (const NodeNames::Group& group : names.groups()) {
        const std::size_t last = group.nodes.size() - 1;
        print("  {}{}: {} {}\n", names[group.nodes.front()],
              last > 0 ? fmt::format(" to {}", names[group.nodes.back()]) : "",
              last > 0 ? "nodes" : "node", id_ranges(group.nodes));
    }
    const LinkClasses classes(topology);
    std::map<std::tuple<std::size_t, std::int64_t, Tick>, std::size_t> kinds;
    for (LinkId id = 0; id < topology.links().size(); ++id) {
        const Link& link = topology.links()[id];
        ++kinds[{classes.class_of(id), link.rate.bits_per_second, link.delay}];
    }
    for (const auto& [kind, count] : kinds) {
        const auto& [cls, rate, delay] = kind;
        print("  {} {} links of {}, {}\n", count, classes.classes()[cls].name, format_rate({rate}),
              format_time(delay));
    }
}

}  // namespace

namespace {

Topology build_by_type(const TopoOptions& options) {
    ConfigValue table;
    table.at.source = std::make_shared<const std::string>("topo " + options.type);
    set_config(table, "type", text_value(options.type), "topo");
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
    write_output(options.output, format_topology(topology, format));
    print("written to {}\n", options.output);
    if (topology.group_routing != GroupRouting::shortest) {
        print_error(
            "sluice: {}: a topology.txt has no routing; a network of that file routes by fewest "
            "cables\n",
            options.output);
    }
    if (topology.hop_weights != HopWeights::equal) {
        print_error("sluice: {}: a topology.txt has no ecmp_weights; give the key beside it\n",
                    options.output);
    }
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

int topo_command(const TopoOptions& options) {
    check_options(options);
    ImportReport report;
    const Topology topology =
        options.file.empty() ? build_by_type(options) : read_topology_file(options.file, &report);
    if (options.check) {
        print("{}", report.text());
    } else {
        print_counts(topology);
    }
    if (!options.output.empty()) write_topology(options, topology);
    return options.check && report.count(ImportNote::Kind::misfit) > 0 ? kExitBadInput : kExitDone;
}

}  // namespace

Command add_topo_command(CommandLine program) {
    const auto options = std::make_shared<TopoOptions>();
    CommandLine app = program.add_subcommand(
        "topo",
        "Build a topology: --KEY VALUE for each key of its [topology] table "
        "(docs/scenario.md), e.g. topo fat-tree --k 8 --rate 100Gbps -o topology.txt");
    app.add_option(
        "type", options->type,
        "fat-tree, leaf-spine, rail-optimized, spectrum-x, ... (docs/scenario.md has all)");
    app.add_option("--file", options->file,
                   "A topology.txt of HPCC ns-3 or SimAI, or htsim's .topo, in place of a type")
        .type_name("FILE");
    app.add_flag("--check", options->check,
                 "With --file: report what was read, what was skipped and what does not fit");
    app.add_option("-o,--output", options->output, "Where to write the topology.txt")
        .type_name("FILE");
    app.add_option("--format", options->format, "Header to write (default: what the network needs)")
        .one_of({"hpcc", "simai"});
    app.allow_extras();
    return {app, [app, options] {
                options->settings = topology_settings(app.remaining());
                return topo_command(*options);
            }};
}

}  // namespace sluice
