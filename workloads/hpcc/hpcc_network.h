// SPDX-License-Identifier: Apache-2.0
/// What an HPCC ns-3 config means for the devices: its keys as a NetworkConfig. The fixed behaviours
/// of that simulator (ACKs before data at the NIC and among data in switches, go-back-N with NACKs
/// every 500 us and no time-out, unlimited egress, nanosecond arithmetic) are set here.
#pragma once

#include <string>
#include <vector>

#include "core/packet/network_config.h"
#include "core/topology/topology.h"
#include "workloads/hpcc/hpcc_config.h"

namespace sluice {

/// `notes` gets what a user should know of how the keys were read. Throws ConfigError.
NetworkConfig hpcc_network(const HpccConfig& config, const Topology& topology, std::uint64_t seed,
                           std::vector<std::string>& notes);

/// The links as ns-3 has them: delays in whole nanoseconds, and the global error rate on links
/// without one of their own.
Topology with_ns3_links(const Topology& topology, double error_rate);

/// LINK_DOWN as events (every cable between the two nodes), empty if there is none.
std::vector<LinkEvent> hpcc_link_events(const HpccConfig& config, const Topology& topology);

}  // namespace sluice
