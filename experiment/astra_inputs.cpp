// SPDX-License-Identifier: Apache-2.0
#include "experiment/astra_inputs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "core/error.h"
#include "core/topology/topology_io.h"
#include "core/world/lookahead.h"
#include "experiment/configuration_of.h"
#include "workloads/hpcc/hpcc_config.h"
#include "workloads/hpcc/hpcc_network.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;

void require(const std::string& value, const char* option, const char* what) {
    if (value.empty()) {
        throw ConfigError(fmt::format("astra: --{} is missing: {}", option, what));
    }
}

bool parse_flag(const std::string& text, const char* option) {
    if (text == "true" || text == "1" || text == "on") return true;
    if (text == "false" || text == "0" || text == "off") return false;
    throw ConfigError(fmt::format("astra: --{} is \"{}\": true or false is needed", option, text));
}

bool is_yaml(const std::string& path) {
    const std::string ending = fs::path(path).extension().string();
    return ending == ".yml" || ending == ".yaml" || ending == ".json";
}

/// TOPOLOGY_FILE: as it stands, from the config's folder, or by its name beside the config:
/// ASTRA-sim's own configs name it relative to where its ns-3 is built.
std::string find_topology(const HpccConfig& config) {
    const std::string& name = config.topology_file;
    if (name.empty()) {
        throw ConfigError(config.path, 0, "TOPOLOGY_FILE is missing: it names the topology");
    }
    const fs::path folder = fs::path(config.path).parent_path();
    std::error_code error;
    for (const fs::path& candidate :
         {fs::path(name), folder / name, folder / fs::path(name).filename()}) {
        if (fs::is_regular_file(candidate, error)) return candidate.string();
    }
    config.fail("TOPOLOGY_FILE", "no such file: " + name + ", nor from the folder of the config");
}

Experiment read_ns3(const AstraOptions& options, ImportReport& report) {
    const HpccConfig config = read_hpcc_config(options.network);
    Experiment experiment;
    experiment.name = "astra";
    // What does not fit there need not matter to the traces, so only --check tells it.
    const Topology topology =
        read_topology(find_topology(config), options.check ? &report : nullptr, DelayReading::ns3);
    experiment.topology = with_ns3_links(topology, config.error_rate);
    std::vector<std::string> notes = config.notes;
    experiment.network = hpcc_network(config, experiment.topology,
                                      static_cast<std::uint64_t>(config.random_seed), notes);
    choose_arithmetic(experiment.network, experiment.topology,
                      parse_mode(options.mode, "astra --mode"));
    experiment.link_events = hpcc_link_events(config, experiment.topology);
    constexpr double kLongest = 8'000'000;  // SimAI and ASTRA-sim write 4e13 s: never
    if (config.given("SIMULATOR_STOP_TIME") && config.stop_s < kLongest) {
        experiment.stop = static_cast<Tick>(config.stop_s * static_cast<double>(kSecond));
    }
    report.read(config.path, fmt::format("{} keys; {} hosts", config.lines.size(),
                                         experiment.topology.host_count()));
    for (const std::string& note : notes) report.skipped_line(note, config.path);
    return experiment;
}

flowlevel::AnalyticalConfig analytical_config(const AstraOptions& options, ImportReport& report) {
    flowlevel::AnalyticalConfig config;
    if (options.backend != "congestion-aware" && options.backend != "congestion-unaware") {
        throw ConfigError("astra: --network-backend is \"" + options.backend +
                          "\": congestion-aware or congestion-unaware is needed");
    }
    config.congestion_aware = options.backend == "congestion-aware";
    for (const chakra::NetworkDimension& dimension :
         chakra::read_network(options.network, report)) {
        config.dimensions.push_back({static_cast<flowlevel::DimensionKind>(dimension.kind),
                                     dimension.npus, dimension.bandwidth, dimension.latency});
    }
    return config;
}

void check_logical(const AstraOptions& options, const std::vector<std::uint32_t>& dims,
                   AstraInputs& inputs, ImportReport& report) {
    std::uint64_t npus = 1;
    for (const std::uint32_t dim : dims) npus *= dim;
    const std::uint64_t hosts = inputs.experiment->topology.host_count();
    if (npus > hosts) {
        report.misfit(options.logical,
                      fmt::format("has {} NPUs; the topology has {} hosts", npus, hosts));
    }
}

}  // namespace

namespace {

/// Reads one part after the other; with --check a part that cannot be read is a misfit.
class Reading {
  public:
    Reading(const AstraOptions& options, ImportReport& report)
        : options_(options), report_(report) {}

    AstraInputs read() {
        chakra::ExpansionOptions& expansion = inputs_.job.expansion;
        expansion.queues_per_dim = static_cast<std::uint32_t>(options_.queues_per_dim);
        expansion.injection_scale = options_.injection_scale;
        inputs_.job.compute_scale = options_.compute_scale;
        inputs_.job.comm_scale = options_.comm_scale;
        attempt(
            [&] { expansion.rendezvous = parse_flag(options_.rendezvous, "rendezvous-protocol"); });
        attempt([&] { read_system(); });
        attempt([&] { read_network(); });
        attempt([&] {
            if (options_.remote_memory.empty()) return;
            inputs_.job.memory = chakra::read_remote_memory(options_.remote_memory, report_);
        });
        attempt([&] {
            if (options_.comm_group.empty()) return;
            inputs_.job.groups = chakra::read_comm_groups(options_.comm_group, report_);
        });
        attempt([&] { read_traces(); });
        return std::move(inputs_);
    }

  private:
    template <typename Action>
    void attempt(const Action& action) {
        if (!options_.check) {
            action();
            return;
        }
        try {
            action();
        } catch (const ConfigError& error) {
            report_.misfit_line(error.what(), "astra");
        }
    }

    void read_system() {
        require(options_.system, "system-configuration", "ASTRA-sim's system.json");
        inputs_.system = chakra::read_system(options_.system, report_);
    }

    void read_network() {
        require(options_.network, "network-configuration", "network.yml or an ns-3 config.txt");
        std::vector<std::uint32_t>& dims = inputs_.job.expansion.dims;
        if (is_yaml(options_.network)) {
            inputs_.analytical = analytical_config(options_, report_);
            inputs_.job.expansion.chunk_order = chakra::ChunkOrder::arrival;
            for (const flowlevel::AnalyticalDimension& dimension : inputs_.analytical->dimensions) {
                dims.push_back(dimension.npus);
            }
            if (!options_.logical.empty() && options_.logical.find("empty") == std::string::npos &&
                chakra::read_logical_dims(options_.logical, report_) != dims) {
                report_.misfit(options_.logical, "differs from npus_count of " + options_.network);
            }
            return;
        }
        require(options_.logical, "logical-topology-configuration",
                "{\"logical-dims\": [\"8\"]}, NPUs per dimension, goes with an ns-3 config");
        inputs_.experiment = read_ns3(options_, report_);
        dims = chakra::read_logical_dims(options_.logical, report_);
        check_logical(options_, dims, inputs_, report_);
        inputs_.job.signal_delay =
            step::network_lookahead(inputs_.experiment->topology, inputs_.experiment->network);
    }

    void read_traces() {
        require(options_.workload, "workload-configuration",
                "the prefix of the traces PREFIX.0.et, ...");
        inputs_.traces = chakra::read_traces(chakra::find_traces(options_.workload),
                                             chakra::reading_threads(), report_);
    }

    const AstraOptions& options_;
    ImportReport& report_;
    AstraInputs inputs_;
};

}  // namespace

AstraInputs read_astra_inputs(const AstraOptions& options, ImportReport& report) {
    return Reading(options, report).read();
}

}  // namespace sluice
