// SPDX-License-Identifier: Apache-2.0
/// Nodes as scenarios name them: ids, or names (core/topology/node_names.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "core/topology/node_names.h"

namespace sluice {

class NodeReader {
  public:
    explicit NodeReader(const Topology& topology) : topology_(topology) {}

    /// ConfigError unless `value` is a node of the network; `what` is how messages call it.
    NodeId node(const ConfigValue& value, const std::string& what);
    /// The same of hosts.
    NodeId host(const ConfigValue& value, const std::string& what);
    /// The entries of an array of hosts, as they are written down in the effective configuration; none if it
    /// is not there.
    std::optional<std::vector<NodeId>> hosts(ConfigSection& section, const std::string& key);
    const NodeNames& names();

  private:
    const Topology& topology_;
    std::unique_ptr<NodeNames> names_;  ///< once somebody uses one
};

}  // namespace sluice
