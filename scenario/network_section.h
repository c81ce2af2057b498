// SPDX-License-Identifier: Apache-2.0
/// The [network] and [congestion] tables of a scenario: how devices behave. Keys, units and
/// defaults: docs/scenario.md. Defaults depend on the congestion law (packet format, ECN) and on
/// the NIC rate (buffer, ECN, the law's rates), so they are resolved here, once.
/// Errors: ConfigError with the place and what is allowed.
#pragma once

#include "core/packet/network_config.h"
#include "core/text/config_section.h"
#include "core/topology/topology.h"

namespace sluice {

/// The rate of the hosts' NICs: of the first host's first port that does not lead to an NVSwitch.
/// ConfigError if no host has a port.
Rate nic_rate(const Topology& topology);

/// Reads [congestion] and [network] from the scenario's root. Checks what needs the topology: that
/// PFC headroom fits the switches' buffer, and that HPCC's 3-bit rate field can name every rate.
NetworkConfig read_network(ConfigSection& root, const Topology& topology);

}  // namespace sluice
