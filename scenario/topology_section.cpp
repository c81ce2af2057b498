// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology_section.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/topology/forwarding_hosts.h"
#include "scenario/node_reader.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

std::vector<std::string> topology_types() {
    std::vector<std::string> names;
    for (const TopologyType* type : topology_table()) names.emplace_back(type->name);
    return names;
}

namespace {

/// Of servers of unequal size, an array; none if the key is a number, or missing.
std::optional<std::vector<std::int64_t>> read_server_sizes(ConfigSection& section) {
    const ConfigValue* const value = section.raw("gpus_per_server");
    if (value == nullptr || value->kind != ConfigValue::Kind::array) return std::nullopt;
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    return section.integers("gpus_per_server", 1, kMost, static_cast<std::size_t>(kMost));
}

void set_server_sizes(const ConfigSection& section, const std::vector<std::int64_t>& sizes,
                      Topology& topology) {
    std::int64_t sum = 0;
    topology.server_sizes.clear();
    for (const std::int64_t size : sizes) {
        sum += size;
        topology.server_sizes.push_back(static_cast<std::uint32_t>(size));
    }
    if (sum != static_cast<std::int64_t>(topology.host_count())) {
        section.fail("gpus_per_server", "adds up to " + std::to_string(sum) +
                                            " GPUs, the topology has " +
                                            std::to_string(topology.host_count()) + " hosts");
    }
    topology.gpus_per_server =
        *std::max_element(topology.server_sizes.begin(), topology.server_sizes.end());
}

/// Its keys are known to the table before the network is; their values name its nodes.
struct ForwardingKeys {
    bool given = false;
    bool all = false;
    ForwardingCost cost;
};

ForwardingKeys read_forwarding(ConfigSection& section) {
    ForwardingKeys keys;
    const ConfigValue* const value = section.raw("forwarding_hosts");
    keys.given = value != nullptr;
    if (!keys.given) {
        for (const char* const key : {"forwarding_rate", "forwarding_delay"}) {
            if (section.has(key)) {
                section.fail(key,
                             "is of hosts that forward, and no host does; allowed: with "
                             "forwarding_hosts, which names them");
            }
        }
        return keys;
    }
    if (value->kind == ConfigValue::Kind::text) {
        keys.all = section.choice_index("forwarding_hosts", "", {"all"}) == 0;
    }
    keys.cost.delay = section.time("forwarding_delay", keys.cost.delay, 0, kMaxCableDelay);
    if (section.has("forwarding_rate")) {
        keys.cost.rate = section.rate("forwarding_rate", keys.cost.rate);
    }
    return keys;
}

Topology forwarding(const Topology& topology, const ForwardingKeys& keys, ConfigSection& section) {
    std::vector<NodeId> hosts;
    if (keys.all) {
        hosts = hosts_with_several_cables(topology);
        if (hosts.empty()) {
            section.fail("forwarding_hosts", "is \"all\", but no host has two cables or more");
        }
    } else {
        hosts = NodeReader(topology).hosts(section, "forwarding_hosts").value();
    }
    try {
        return with_forwarding_hosts(topology, hosts, keys.cost);
    } catch (const ConfigError& error) {
        throw ConfigError(section.where("forwarding_hosts") + ": " + error.what());
    }
}

}  // namespace

Topology build_topology(ConfigSection section, const ResolvePath& resolve) {
    const std::size_t type = section.choice_index("type", "", topology_types());
    // Hosts [s g, (s + 1) g) are one server, the last one what is left. A topology.txt may say itself how many
    // those are.
    const bool given = section.has("gpus_per_server");
    const auto sizes = read_server_sizes(section);
    const ForwardingKeys forwards = read_forwarding(section);
    const HopWeights weights =
        section.choice("ecmp_weights", HopWeights::equal,
                       {{"equal", HopWeights::equal}, {"rate", HopWeights::rate}});
    const BuildTopology build = topology_table()[type]->read(section, resolve);
    Topology topology = [&] {
        try {
            return build();
        } catch (const ConfigError& error) {
            throw ConfigError(section.where("type") + ": " + error.what());
        }
    }();
    topology.hop_weights = weights;
    if (sizes) {
        set_server_sizes(section, *sizes, topology);
    } else if (given) {
        topology.gpus_per_server =
            static_cast<std::uint32_t>(read_node_count(section, "gpus_per_server", 1));
        topology.server_sizes.clear();
    }
    return forwards.given ? forwarding(topology, forwards, section) : topology;
}

}  // namespace sluice
