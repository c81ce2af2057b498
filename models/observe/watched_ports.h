// SPDX-License-Identifier: Apache-2.0
/// Ports by which watchers are asked, and how they are called.
#pragma once

#include <string>
#include <vector>

#include "core/topology/topology.h"

namespace sluice {

/// Ascending, each once. ConfigError if there is none, or no such port.
std::vector<PortId> watched_ports(const Topology& topology, std::vector<PortId> ports);

/// "leaf3_2_to_host5": the node, the port's number there, and the node at the far end.
std::string port_name(const Topology& topology, PortId port);

}  // namespace sluice
