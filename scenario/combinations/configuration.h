// SPDX-License-Identifier: Apache-2.0
/// What of a run decides which of its settings go together: what a rule of the table (scenario/combinations/rules.cpp)
/// may look at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/hybrid/phase_config.h"
#include "core/packet/network_config.h"
#include "core/results/mode.h"
#include "core/text/config_value.h"
#include "core/topology/topology.h"

namespace sluice {

struct Scenario;

/// Links of a path through one switch.
inline constexpr std::int64_t kOneSwitch = 2;

/// What the built workload shows, for what is chosen by it.
struct WorkloadFacts {
    bool only_jobs = false;         ///< every flow is a message of a job
    bool has_host_ports = false;    ///< a testbench posts operations beside them
    double packet_hops = 0;         ///< if nothing is skipped
    double long_hops = 0;           ///< those of long messages
    double packet_seconds = 0;      ///< wall time that all packets would take
    std::int64_t longest_path = 0;  ///< links
    std::function<bool()>
        ranks_differ;  ///< slow, so that it is called only where nothing else decides
};

/// Refers to what it is made of, which must outlive it. Whoever asks sets the facts that it knows.
struct Configuration {
    Configuration(Mode its_mode, const Topology& its_topology, const NetworkConfig& its_network,
                  const PhaseConfig& its_phases)
        : mode(its_mode), topology(its_topology), network(its_network), phases(its_phases) {}
    /// Of one that has been read, or is being read: then only its `values` and what has been read mean something.
    explicit Configuration(const Scenario& scenario);

    Mode mode;
    const Topology& topology;
    const NetworkConfig& network;
    const PhaseConfig& phases;
    const ConfigValue* values = nullptr;  ///< the scenario's keys; null: it comes from elsewhere
    bool round_trips = false;             ///< output.rtt: somebody is told of every ACK
    bool watches_ports = false;           ///< output.capture or output.waves
    bool link_events = false;
    bool stops = false;           ///< at a given time
    bool imported = false;        ///< the network is another simulator's
    bool records_queues = false;  ///< queues.bin is about to be written
    bool samples = false;         ///< queues are sampled, or PFC frames reported, during the run
    bool streamed = false;        ///< an application that is no list of jobs starts flows
    bool triggered = false;       ///< a connection matrix with triggers starts flows
    bool beside_others = false;   ///< that one is not the only workload
    const WorkloadFacts* workload = nullptr;

    /// A key of the scenario by its path, "network.pfc"; null if it isn't given.
    const ConfigValue* value(const std::string& path) const;
    bool gives(const std::string& path) const { return value(path) != nullptr; }
    /// A flag that is given, and true.
    bool asks(const std::string& path) const;
};

}  // namespace sluice
