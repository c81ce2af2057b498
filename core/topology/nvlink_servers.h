// SPDX-License-Identifier: Apache-2.0
/// Servers as NVSwitches show them.
#pragma once

#include "core/topology/topology.h"

namespace sluice {

/// Sets Topology::server_sizes where servers have holes: NVSwitches join runs of hosts, none larger than
/// gpus_per_server, of which some lie in two runs of that length. Else the network stays as it is.
void take_servers_of_nvswitches(Topology& topology);

}  // namespace sluice
