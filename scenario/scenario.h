// SPDX-License-Identifier: Apache-2.0
/// A scenario file, parsed and resolved: the network, how its devices behave, what happens to its
/// links, and what to write. It knows nothing of workloads: their tables are handed on, unread, to
/// whoever does. Keys, units and defaults: docs/scenario.md.
/// Errors: ConfigError with file, line and column, what is wrong and what is allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/hybrid/phase_config.h"
#include "core/packet/network_config.h"
#include "core/results/mode.h"
#include "core/text/config_section.h"
#include "core/topology/topology.h"
#include "core/units.h"
#include "scenario/watched_ports.h"

namespace sluice {

/// What a run writes.
struct OutputConfig {
    std::string directory;                 ///< empty: runs/NAME
    std::vector<std::string> optional;     ///< keys of the optional outputs that are wanted
    Tick series_step = 10 * kMicrosecond;  ///< between two samples of series.csv
    WatchedPorts watched;
};

struct Scenario {
    std::string name;
    std::string path;  ///< of the file, for relative paths and messages
    Mode mode = Mode::packet;
    Tick stop = kNever;
    std::uint64_t seed = 1;  ///< of what workloads draw, whatever the perturbation
    bool fold =
        true;  ///< modes with packets: parts that are copies of each other are executed once
    Topology topology;
    NetworkConfig network;  ///< holds the seed of what the network draws: perturbed_seed()
    PhaseConfig phases;     ///< of hybrid mode
    std::vector<LinkEvent> link_events;
    OutputConfig output;
    std::size_t replicas = 0;  ///< further runs that differ by their perturbation only
    bool allow_oom = false;    ///< jobs that do not fit their GPUs' memory run all the same

    /// What `workloads` read from and record into.
    std::unique_ptr<ConfigValue> values;
    std::unique_ptr<EffectiveConfig> effective;
    /// [workload], or every [[workload]]: at least one, unless they are optional. Their reader calls finish() on each.
    std::vector<ConfigSection> workloads;

    /// A file that the scenario names: as given from the working directory if it exists there,
    /// else from the scenario's own folder.
    std::string resolve(const std::string& file) const;
};

/// The key "name", or what its file is called, without the ending: fit for a folder. ConfigError if it is not.
std::string read_name(ConfigSection& root, const std::string& path);

/// Loads `path`, applies `overrides` ("key=value", in order) and resolves.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

/// Whether a scenario needs [workload]: others may give a network what it carries.
enum class Workloads : std::uint8_t { required, optional };

/// The same of values that have been read; `path` names them. `recorded`: with the effective configuration.
Scenario make_scenario(ConfigValue values, const std::string& path,
                       Workloads workloads = Workloads::required, bool recorded = true);

/// The same from text; `path` names it. Used by tests and the fuzzer.
Scenario parse_scenario(const std::string& text, const std::string& path,
                        const std::vector<std::string>& overrides = {});

}  // namespace sluice
