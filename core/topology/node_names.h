// SPDX-License-Identifier: Apache-2.0
/// Names of nodes, by what they are and their place among those that are the same, in the order of their ids:
///     host0, host1, ...   hosts; gpu0, gpu1, ... are the same ones
///     port0, ...          ports of hosts that forward (core/topology/forwarding_hosts.h)
///     nvswitch0, ...      NVSwitches
///     leaf0, spine0, core0, tier4-0, ...   packet switches by their tier (core/topology/link_class.h)
///     switch0, ...        packet switches that no host reaches
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/topology/topology.h"

namespace sluice {

class NodeNames {
  public:
    /// The nodes of one kind; the i-th is called `prefix` and i.
    struct Group {
        std::string prefix;
        std::vector<NodeId> nodes;  ///< ascending, not empty
    };

    explicit NodeNames(const Topology& topology);

    std::string operator[](NodeId node) const;
    std::optional<NodeId> find(const std::string& name) const;
    /// Hosts first, then from them upwards: their ports, NVSwitches, packet switches.
    const std::vector<Group>& groups() const { return groups_; }
    /// "host0 to host15, leaf0 to leaf3": for messages.
    std::string known() const;

  private:
    std::vector<Group> groups_;
    std::vector<std::uint32_t> group_of_;
};

/// The name of a tier of packet switches: "leaf", "spine", "core", "tier4".
std::string tier_name(std::uint32_t tier);

/// Ascending ids as ranges: "0 to 7, 12, 16 to 23", at most `most` of them, then "...".
std::string id_ranges(const std::vector<NodeId>& ids, std::size_t most = 6);

}  // namespace sluice
