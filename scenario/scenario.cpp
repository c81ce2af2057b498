// SPDX-License-Identifier: Apache-2.0
#include "scenario/scenario.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/results/run_output.h"
#include "core/topology/forwarding_hosts.h"
#include "scenario/combinations/combinations.h"
#include "scenario/network_check.h"
#include "scenario/network_section.h"
#include "scenario/node_reader.h"
#include "scenario/perturbation.h"
#include "scenario/phases_section.h"
#include "scenario/topology_section.h"

namespace sluice {

namespace {

constexpr std::size_t kMaxName = 200;

/// The links that an event means: one index, or every cable between a pair of nodes.
std::vector<LinkId> read_links(ConfigSection& section, const Topology& topology,
                               NodeReader& nodes) {
    const ConfigValue* value = section.raw("link");
    if (value == nullptr) {
        section.fail("link", "is missing from [link_event]; give [node, node] or a link's index");
    }
    const auto count = static_cast<std::int64_t>(topology.links().size());
    if (value->kind == ConfigValue::Kind::integer) {
        const std::int64_t index = integer_of(*value, "'link'", 0, count - 1);
        section.note("link", index);
        return {static_cast<LinkId>(index)};
    }
    if (value->kind != ConfigValue::Kind::array || value->array.size() != 2) {
        section.fail("link", "is " + value->shown() + "; must be [node, node] or a link's index");
    }
    const NodeId a = nodes.node(value->array[0], "a node of 'link'");
    const NodeId b = nodes.node(value->array[1], "a node of 'link'");
    std::vector<LinkId> links;
    for (PortId port = topology.first_port(a); port < topology.first_port(a + 1); ++port) {
        const PortCable cable = port_cable(topology, port);
        if (topology.neighbor(port) == b) {
            links.push_back(topology.link_of(port));
        } else if (cable.end == b) {
            links.push_back(cable.link);
        }
    }
    if (links.empty()) {
        section.fail("link", "joins " + std::to_string(a) + " (" + nodes.names()[a] + ") and " +
                                 std::to_string(b) + " (" + nodes.names()[b] +
                                 "), which no cable joins");
    }
    section.note("link", std::to_string(a) + "-" + std::to_string(b));
    return links;
}

std::vector<LinkEvent> read_link_events(ConfigSection& root, const Topology& topology) {
    std::vector<LinkEvent> events;
    NodeReader nodes(topology);
    for (ConfigSection& section : root.tables("link_event")) {
        const Tick at = section.time("at", std::nullopt);
        const bool up = section.flag("up", false);
        for (const LinkId link : read_links(section, topology, nodes)) {
            events.push_back({at, link, up});
        }
        section.finish();
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
    return events;
}

std::vector<ConfigSection> read_workloads(ConfigSection& root) {
    const ConfigValue* value = root.raw("workload");
    if (value != nullptr && value->kind == ConfigValue::Kind::array) {
        std::vector<ConfigSection> sections = root.tables("workload");
        if (sections.empty()) root.fail("workload", "is empty; give at least one table");
        return sections;
    }
    return {root.table("workload")};
}

OutputConfig read_output(ConfigSection section) {
    OutputConfig output;
    output.directory = section.text("dir", "");
    for (const OutputType& type : output_types()) {
        if (type.key != nullptr && section.flag(type.key, type.usual)) {
            output.optional.emplace_back(type.key);
        }
    }
    const auto wanted = [&](const char* key) {
        return std::count(output.optional.begin(), output.optional.end(), key) > 0;
    };
    if (wanted("series")) {
        output.series_step = section.time("series_step", output.series_step, kPicosecond);
    }
    know_watched_ports(section);
    section.finish();
    return output;
}

Scenario overridden(ConfigValue values, const std::string& path,
                    const std::vector<std::string>& overrides) {
    for (const std::string& assignment : overrides) override_config(values, assignment);
    return make_scenario(std::move(values), path);
}

/// Of a scenario that names none.
Mode usual_mode(const Scenario& scenario) {
    return parse_mode(automatic_choice("mode", Configuration(scenario))->value, "mode");
}

}  // namespace

Scenario make_scenario(ConfigValue values, const std::string& path, Workloads workloads,
                       bool recorded) {
    Scenario scenario;
    scenario.path = path;
    scenario.values = std::make_unique<ConfigValue>(std::move(values));
    scenario.effective = std::make_unique<EffectiveConfig>(recorded);
    ConfigSection root(*scenario.values, *scenario.effective);
    scenario.name = read_name(root, path);
    scenario.mode = root.choice<Mode>("mode", usual_mode(scenario), mode_words());
    scenario.seed = static_cast<std::uint64_t>(root.integer("seed", 1, 0, std::int64_t{1} << 62));
    scenario.stop = root.time("stop", kNever, kPicosecond);
    // Recorded where it is asked for only: without it the configuration is what it always was.
    const auto perturbation = static_cast<std::uint64_t>(
        root.has("perturbation") ? root.integer("perturbation", 0, 0, std::int64_t{1} << 62) : 0);
    scenario.replicas =
        static_cast<std::size_t>(root.has("replicas") ? root.integer("replicas", 0, 0, 10'000) : 0);
    scenario.fold = !root.has("fold") || root.flag("fold", true);
    // Asked for here so that a slip in a table's name is found before anything large is built.
    for (const char* key :
         {"topology", "congestion", "network", "link_event", "output", "workload", "phases"}) {
        root.has(key);
    }
    root.finish();
    if (workloads == Workloads::required || root.has("workload")) {
        scenario.workloads = read_workloads(root);
    }
    scenario.output = read_output(root.table("output"));
    // The table may stay in the file whatever the mode, so that `--mode` is enough to compare.
    if (has_phases(scenario.mode) || root.has("phases")) {
        scenario.phases = read_phases(root.table("phases"), scenario);
        if (!scenario.phases.restore_model.empty()) {
            scenario.phases.restore_model = scenario.resolve(scenario.phases.restore_model);
        }
    }
    const auto resolve = [&](const std::string& file) { return scenario.resolve(file); };
    scenario.topology = build_topology(root.table("topology"), resolve);
    scenario.topology = perturbed(scenario.topology, scenario.seed, perturbation);
    scenario.network = read_network(root, scenario.topology);
    scenario.network.train = has_phases(scenario.mode) ? scenario.phases.train : 1;
    scenario.network.seed = perturbed_seed(scenario.seed, perturbation);
    refuse_keys(Configuration(scenario), root);
    ConfigSection output = root.table("output");
    scenario.output.watched = read_watched_ports(output, scenario.topology);
    scenario.link_events = read_link_events(root, scenario.topology);
    if (moves_packets(scenario.mode)) check_network(scenario, root);
    return scenario;
}

std::string read_name(ConfigSection& root, const std::string& path) {
    std::string stem;
    if (!root.has("name")) stem = std::filesystem::path(path).stem().string();
    if (stem.empty()) stem = "scenario";
    std::string name = root.text("name", stem);
    // It becomes the name of a folder.
    const bool plain = !name.empty() && name.size() <= kMaxName && name != "." && name != ".." &&
                       std::none_of(name.begin(), name.end(), [](char c) {
                           const auto byte = static_cast<unsigned char>(c);
                           return byte < 0x20 || byte == 0x7f || c == '/' || c == '\\';
                       });
    if (!plain) {
        root.fail("name",
                  "is " + shown_text(name) +
                      "; must be 1 to 200 characters without slashes or control characters");
    }
    return name;
}

std::string Scenario::resolve(const std::string& file) const {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::path(file).is_absolute() || fs::exists(file, ignored)) return file;
    const fs::path beside = fs::path(path).parent_path() / file;
    return fs::exists(beside, ignored) ? beside.string() : file;
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return overridden(load_config(path), path, overrides);
}

Scenario parse_scenario(const std::string& text, const std::string& path,
                        const std::vector<std::string>& overrides) {
    return overridden(parse_config(text, path), path, overrides);
}

}  // namespace sluice
