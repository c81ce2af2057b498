// SPDX-License-Identifier: Apache-2.0
/// Whether every host can reach every other, given that packets never pass through a host.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "core/topology/topology.h"

namespace sluice {

/// Two hosts without a path between them, the first by id; nothing if all are connected.
std::optional<std::pair<NodeId, NodeId>> find_unreachable_hosts(const Topology& topology);

/// Whether a path joins two hosts; null if one joins all. Copies share what they know.
std::function<bool(NodeId, NodeId)> joined_hosts(const Topology& topology);

}  // namespace sluice
