// SPDX-License-Identifier: Apache-2.0
#include "experiment/hpcc/hpcc_import.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/packet/buffer.h"
#include "core/routing/paths.h"
#include "core/text/quantity.h"
#include "core/text/tokens.h"
#include "core/topology/topology_io.h"
#include "workloads/hpcc/hpcc_config.h"
#include "workloads/hpcc/hpcc_flows.h"
#include "workloads/hpcc/hpcc_network.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Where an input file is: tried from the working directory, then from the config's folder, then
/// beside the config, because mix/config.txt names mix/topology.txt.
std::string find_input(const HpccConfig& config, const std::string& key, const std::string& name) {
    if (name.empty()) {
        throw ConfigError(config.path, 0, key + " is missing: it names an input file");
    }
    std::error_code error;
    if (fs::exists(name, error)) {
        return name;
    }
    const fs::path beside = fs::path(config.path).parent_path() / name;
    const fs::path next_to = fs::path(config.path).parent_path() / fs::path(name).filename();
    if (!fs::path(name).is_absolute() && !fs::exists(beside, error) &&
        fs::is_regular_file(next_to, error)) {
        return next_to.string();
    }
    if (fs::path(name).is_absolute() || !fs::exists(beside, error)) {
        config.fail(key, "no such file: " + name +
                             (fs::path(name).is_absolute() ? "" : ", nor " + beside.string()));
    }
    return beside.string();
}

std::vector<NodeId> traced_nodes(const HpccConfig& config, const Topology& topology,
                                 std::vector<std::string>& notes, ImportReport& report) {
    if (config.trace_file.empty()) {
        return {};
    }
    std::string file;
    try {
        file = find_input(config, "TRACE_FILE", config.trace_file);
    } catch (const ConfigError& error) {
        notes.push_back(std::string(error.what()) + "; no node is traced");
        return {};
    }
    const std::vector<NodeId> nodes = read_hpcc_trace_nodes(TokenReader::open(file), topology);
    report.read(file, std::to_string(nodes.size()) + " nodes to trace");
    if (config.enable_trace && !nodes.empty()) {
        notes.push_back(config.path +
                        ": the binary packet trace (TRACE_OUTPUT_FILE) is not "
                        "written; trace.json is");
    }
    return nodes;
}

/// ns-3 subtracts headroom and reserve from the buffer in unsigned numbers of 32 bits.
void note_small_buffers(const HpccConfig& config, const Experiment& experiment,
                        std::vector<std::string>& notes) {
    const Topology& topology = experiment.topology;
    const NetworkConfig& network = experiment.network;
    for (NodeId node = 0; node < topology.node_count() && network.pfc; ++node) {
        std::int64_t taken = 0;
        for (PortId p = topology.first_port(node); p < topology.first_port(node + 1); ++p) {
            taken += step::pfc_headroom(network, topology.rate(p), topology.delay(p)) +
                     network.buffer.reserve.count;
        }
        if (!topology.is_host(node) && taken > network.buffer.size.count) {
            notes.push_back(fmt::format(
                "{}: BUFFER_SIZE {} is less than the PFC headroom and reserve of switch {}'s ports "
                "({} bytes): as in ns-3 the threshold wraps around to 4 GiB, and PFC never acts "
                "there",
                config.path, config.buffer_mib, node, taken));
            return;
        }
    }
}

std::string base_name(const HpccConfig& config, const std::string& key, const std::string& name) {
    const std::string base = fs::path(name).filename().string();
    if (base.empty() || base == "." || base == "..") {
        config.fail(key, "\"" + name + "\" does not name a file");
    }
    return base;
}

/// SIMULATOR_STOP_TIME; beyond what a clock holds (SimAI writes 4e13 s) means never.
Tick stop_time(double seconds) {
    constexpr double kLongest = 8'000'000;
    return seconds < kLongest ? ns3_seconds(seconds) : kNever;
}

}  // namespace

namespace {

std::string flow_text(const std::vector<FlowSpec>& flows) {
    if (flows.empty()) return "0 flows";
    std::int64_t bytes = 0;
    for (const FlowSpec& flow : flows) bytes += flow.size;
    return fmt::format("{} flows, {} bytes in all, starting from {} to {}", flows.size(), bytes,
                       format_time(flows.front().start), format_time(flows.back().start));
}

/// What import_hpcc() does; `import` holds the notes so far where it throws.
void import_into(HpccImport& import, const std::string& config_path, const std::string& paths_csv,
                 std::uint64_t seed, ImportReport& report) {
    const HpccConfig config = read_hpcc_config(config_path);
    report.read(config_path, std::to_string(config.lines.size()) + " keys");
    import.notes = config.notes;
    Experiment& experiment = import.experiment;
    experiment.name = config_path;
    experiment.topology =
        with_ns3_links(read_topology(find_input(config, "TOPOLOGY_FILE", config.topology_file),
                                     &report, DelayReading::ns3),
                       config.error_rate);
    experiment.network = hpcc_network(
        config, experiment.topology,
        seed != 0 ? seed : static_cast<std::uint64_t>(config.random_seed), import.notes);
    note_small_buffers(config, experiment, import.notes);
    const Routing routing(experiment.topology, NextHopOrder::ns3);
    const std::string flow_file = find_input(config, "FLOW_FILE", config.flow_file);
    std::string format;
    experiment.flows = read_hpcc_flows(TokenReader::open(flow_file), experiment.topology, routing,
                                       import.notes, DelayReading::ns3, &format);
    report.read(flow_file, flow_text(experiment.flows) + " (" + format + ")");
    if (!paths_csv.empty()) {
        std::size_t unlisted = 0;
        experiment.paths =
            paths_of(PathTable::read(paths_csv, experiment.topology), experiment.flows, unlisted);
        if (unlisted > 0) {
            import.notes.push_back(paths_csv + ": " + std::to_string(unlisted) + " of " +
                                   std::to_string(experiment.flows.size()) +
                                   " flows are not listed and go by ECMP");
        }
    }
    experiment.link_events = hpcc_link_events(config, experiment.topology);
    experiment.stop = stop_time(config.stop_s);
    import.traced_nodes = traced_nodes(config, experiment.topology, import.notes, report);

    import.fct_file = base_name(config, "FCT_OUTPUT_FILE", config.fct_output_file);
    import.pfc_file = base_name(config, "PFC_OUTPUT_FILE", config.pfc_output_file);
    if (!config.qlen_file.empty()) {
        import.queue_monitor.file = base_name(config, "QLEN_MON_FILE", config.qlen_file);
        import.queue_monitor.from = config.qlen_from_ns * kNanosecond;
        import.queue_monitor.to = config.qlen_to_ns * kNanosecond;
    }
    import.config_json = hpcc_config_json(config);
}

}  // namespace

HpccImport import_hpcc(const std::string& config_path, const std::string& paths_csv,
                       std::uint64_t seed) {
    HpccImport import;
    ImportReport report;
    import_into(import, config_path, paths_csv, seed, report);
    // One is enough to send the user to --check.
    const std::size_t doubtful = report.count(ImportNote::Kind::doubtful);
    for (const ImportNote& note : report.notes()) {
        if (note.kind != ImportNote::Kind::doubtful) continue;
        import.notes.push_back(note.where + ": " + note.text +
                               (doubtful > 1 ? "; --check lists " + std::to_string(doubtful - 1) +
                                                   " more that are doubtful"
                                             : ""));
        break;
    }
    return import;
}

ImportReport check_hpcc(const std::string& config_path, const std::string& paths_csv) {
    HpccImport import;
    ImportReport report;
    try {
        import_into(import, config_path, paths_csv, 0, report);
    } catch (const ConfigError& error) {
        report.misfit_line(error.what(), config_path);
    }
    for (const std::string& note : import.notes) report.skipped_line(note, config_path);
    return report;
}

}  // namespace sluice
