// SPDX-License-Identifier: Apache-2.0
/// Whether every host can reach every other, given that packets never pass through a host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/topology/topology.h"

namespace sluice {

/// Two hosts without a path between them, the first by id; nothing if all are connected.
std::optional<std::pair<NodeId, NodeId>> find_unreachable_hosts(const Topology& topology);

/// Whether a path joins two hosts; null if one joins all. Copies share what they know.
std::function<bool(NodeId, NodeId)> joined_hosts(const Topology& topology);

/// By how many of its ports a host may send to another one: over NVSwitches that both hang on, if there are any, else into the
/// network.
class HostPorts {
  public:
    struct Count {
        std::uint32_t ports = 0;
        bool nvlink = false;
    };

    explicit HostPorts(const Topology& topology);
    Count between(NodeId from, NodeId to) const;

  private:
    /// Where a port leads: an NVSwitch, or the connected switches of the network behind it.
    struct Way {
        NodeId to = 0;
        bool nvlink = false;
    };
    std::vector<std::uint32_t> first_;  ///< by node: into `ways_`
    std::vector<Way> ways_;
};

}  // namespace sluice
