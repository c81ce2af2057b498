// SPDX-License-Identifier: Apache-2.0
/// `sluice describe`: what a scenario would run, from the same code that would run it.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_names.h"
#include "core/text/human.h"
#include "core/text/quantity.h"
#include "core/topology/forwarding_hosts.h"
#include "core/topology/topology_io.h"
#include "experiment/build_experiment.h"
#include "experiment/expected_time.h"
#include "workloads/hpcc/hpcc_flows.h"

namespace sluice {

namespace {

struct DescribeOptions {
    std::string scenario;           ///< SCENARIO.toml
    std::vector<std::string> sets;  ///< "key=value"
    std::string flows;              ///< where to write an HPCC flow.txt; empty: nowhere
    std::string topology;           ///< where to write the topology.txt; empty: nowhere
    std::string mode;               ///< overrides the scenario's
    bool allow_oom = false;         ///< jobs that do not fit their GPUs: a warning, not an error
};

std::string load_balance_text(const NetworkConfig& network) {
    if (network.sprayed_classes() == 0) return "ECMP";
    switch (network.load_balance) {
        case LoadBalance::spray: return "packet spraying";
        case LoadBalance::round_robin: return "packets in turn over equal paths";
        case LoadBalance::adaptive: return "adaptive, by packet";
        case LoadBalance::flowlet: return "adaptive, by flowlet";
        case LoadBalance::entropy:
            return network.spray.entropy_recycle ? "by entropy values, recycled"
                                                 : "by entropy values";
        case LoadBalance::ecmp: break;
    }
    std::string text = "ECMP, packet spraying of priorities";
    for (std::uint8_t priority = 1; priority <= 7; ++priority) {
        if (network.sprays(priority)) text += fmt::format(" {}", priority);
    }
    return text;
}

const char* routing_text(GroupRouting routing) {
    switch (routing) {
        case GroupRouting::minimal: return "minimal: at most one global cable, then fewest cables";
        case GroupRouting::valiant:
            return "valiant: each flow through a random group, on minimal paths to it and from it";
        case GroupRouting::shortest: break;
    }
    return "shortest: fewest cables, local or global";
}

void print_network(const Experiment& experiment) {
    const Topology& topology = experiment.topology;
    const NodeCounts counts = count_nodes(topology);
    print("  network      {}: {}, {}, {}", topology.name,
          counted(topology.host_count(), "host", "hosts"),
          counted(counts.switches, "switch", "switches"),
          counted(topology.links().size(), "link", "links"));
    if (counts.nvswitches > 0) {
        print(", {}", counted(counts.nvswitches, "NVSwitch", "NVSwitches"));
    }
    if (counts.ports > 0)
        print(", {} of hosts that forward", counted(counts.ports, "port", "ports"));
    if (!topology.server_sizes.empty()) {
        const auto [least, most] =
            std::minmax_element(topology.server_sizes.begin(), topology.server_sizes.end());
        print(", {} of {} to {} GPUs", counted(topology.server_sizes.size(), "server", "servers"),
              *least, *most);
    } else if (topology.gpus_per_server > 1) {
        print(", {} GPUs a server", topology.gpus_per_server);
    }
    const NetworkConfig& network = experiment.network;
    print("\n  devices      {}, payload {} B, {}, buffer {}, {}\n",
          congestion::law_name(network.congestion.law), network.format.payload,
          network.pfc ? "PFC" : "no PFC", format_bytes(network.buffer.size),
          load_balance_text(network));
    if (!topology.switch_group.empty()) {
        print("  routing      {}\n", routing_text(topology.group_routing));
    }
    if (!experiment.link_events.empty()) {
        print("  link events  {}\n", experiment.link_events.size());
    }
}

void print_traffic(const BuiltExperiment& built) {
    const Experiment& experiment = built.experiment;
    print("  flows        {}, {}B in all\n", experiment.flows.size(),
          human_count(static_cast<double>(built.estimate.bytes)));
    std::vector<std::size_t> flows(built.class_names.size(), 0);
    std::vector<std::int64_t> bytes(built.class_names.size(), 0);
    for (std::size_t i = 0; i < experiment.flows.size(); ++i) {
        ++flows[built.flow_class[i]];
        bytes[built.flow_class[i]] += experiment.flows[i].size;
    }
    for (std::size_t c = 0; c < flows.size(); ++c) {
        const auto amount = static_cast<double>(bytes[c]);
        print("    {:<10} {}, {}\n", built.class_names[c], counted(flows[c], "flow", "flows"),
              bytes[c] < 1'000'000'000 ? human_count(amount) + "B"
                                       : fmt::format("{:.2f} GB", amount / 1e9));
    }
    for (const BuiltJob& job : built.jobs) {
        const JobGraph& graph = job.application->graph();
        print("  job          {}: {}, {}, {}\n", job.name,
              counted(graph.rank_count(), "rank", "ranks"),
              counted(graph.op_count(), "operation", "operations"),
              counted(graph.collectives().size(), "collective", "collectives"));
    }
}

/// What a run in `mode` would take, and what that rests on.
void print_time(const BuiltExperiment& built, Mode mode, double audit) {
    const std::size_t hosts = built.experiment.topology.host_count();
    const ExpectedTime time = expected_time(built, mode, audit);
    const std::string speed = human_count(packet_hops_per_second(hosts)) + " packet-hops/s";
    if (mode == Mode::flow) {
        print("  time         about {} in mode flow, at {} a flow\n", human_seconds(time.least_s),
              human_seconds(kFlowModeSeconds));
    } else if (!has_phases(mode)) {
        print("  time         about {} in mode {}, at {}{}\n", human_seconds(time.most_s),
              mode_name(mode), speed,
              may_hold_copies(built) ? "; less where parts are symmetric copies" : "");
    } else if (time.least_s > 0.9 * time.most_s) {
        print("  time         about {} in mode {}, at {}: flows are too short to become steady\n",
              human_seconds(time.most_s), mode_name(mode), speed);
    } else {
        print(
            "  time         {} to {} in mode {}, at {}: the first if {}all rates become steady, "
            "the second if none does{}\n",
            human_seconds(time.least_s), human_seconds(time.most_s), mode_name(mode), speed,
            may_hold_copies(built) ? "parts are symmetric copies and " : "",
            mode == Mode::wormhole ? "; less where the memo predicts" : "");
        print("  likely       about {}: {}\n", human_seconds(time.likely_s), time.likely_why);
    }
}

void print_cost(const BuiltExperiment& built, Mode mode, double audit) {
    const double hops = built.estimate.packet_hops;
    print("  packet-hops  about {} (data and ACKs, nothing lost)\n", human_count(hops));
    print("  memory       about {}B\n", human_count(expected_memory(built)));
    print_time(built, mode, audit);
    if (built.estimate.shared_ports > 0 && mode != Mode::flow) {
        print(
            "  variability  {} carry data of several hosts: where these compete, a run's times are "
            "one sample of a distribution; run --replicas 8 shows its spread\n",
            counted(built.estimate.shared_ports, "switch port", "switch ports"));
    }
}

void write_flows(const BuiltExperiment& built, const std::string& path) {
    std::vector<FlowSpec> flows;
    bool cut = false;
    for (const FlowSpec& flow : built.experiment.flows) {
        if (flow.start == kNever) continue;
        cut = cut || flow.start % kNanosecond != 0;
        flows.push_back(flow);
    }
    const std::size_t left_out = built.experiment.flows.size() - flows.size();
    if (flows.empty()) {
        throw ConfigError(
            "describe --flows: no flow has a start time, as each starts when others end; a "
            "flow.txt holds start times only");
    }
    write_output(path, format_hpcc_flows(flows));
    print("  {} flows written to {}", flows.size(), path);
    if (cut) print(", start times truncated to nanoseconds");
    if (left_out > 0) print("; {} of the job omitted, which have no start times", left_out);
    print("\n");
}

void write_topology(const Topology& topology, const std::string& path) {
    write_output(path, format_topology(topology));
    print("  network written to {}\n", path);
}

int describe_command(const DescribeOptions& options) {
    require_different({{"the scenario", options.scenario},
                       {"--flows", options.flows},
                       {"--topology", options.topology}});
    std::vector<std::string> sets = options.sets;
    if (!options.mode.empty()) {
        sets.emplace_back(fmt::format("mode={}", mode_name(parse_mode(options.mode, "--mode"))));
    }
    Scenario scenario = load_scenario(options.scenario, sets);
    scenario.allow_oom = options.allow_oom;
    const BuiltExperiment built = build_experiment(scenario);
    tell(built.import_notes);
    print("{}: {}\n", built.experiment.name, built.workload);
    for (const std::string& note : built.notes) print("  {}\n", note);
    for (const std::string& warning : built.warnings) print("  warning: {}\n", warning);
    print_network(built.experiment);
    print_traffic(built);
    print_cost(built, scenario.mode, scenario.phases.audit);
    if (!options.flows.empty()) write_flows(built, options.flows);
    if (!options.topology.empty()) write_topology(built.experiment.topology, options.topology);
    return kExitDone;
}

}  // namespace

Command add_describe_command(CommandLine program) {
    const auto options = std::make_shared<DescribeOptions>();
    CommandLine app = program.add_subcommand(
        "describe", "Describe what a scenario would run, without running it");
    app.add_option("scenario", options->scenario, "The scenario file")
        .type_name("SCENARIO.toml")
        .required();
    add_mode_option(app, options->mode, "The mode that would run (default: the scenario's)");
    app.add_option("--flows", options->flows,
                   "Write the flows that have start times as an HPCC ns-3 flow.txt")
        .type_name("FILE");
    app.add_option("--topology", options->topology, "Write the network as a topology.txt")
        .type_name("FILE");
    add_set_option(app, options->sets, kSetHelp);
    app.add_flag("--allow-oom", options->allow_oom,
                 "Warn about jobs that do not fit their GPUs' memory, instead of refusing them");
    return {app, [options] { return describe_command(*options); }};
}

}  // namespace sluice
