// SPDX-License-Identifier: Apache-2.0
/// What the builders share: validation of counts, and a thin layer over Topology.
#pragma once

#include <cstdint>
#include <string>

#include "core/topology/builders.h"
#include "core/topology/topology.h"

namespace sluice::build {

/// ConfigError "TOPOLOGY: message" unless `condition`.
void require(bool condition, const std::string& topology, const std::string& message);

/// ConfigError unless lowest <= value <= highest.
void require_between(const std::string& topology, const std::string& name, std::int64_t value,
                     std::int64_t lowest, std::int64_t highest);

/// ConfigError unless a link may have this rate.
void require_rate(const std::string& topology, const std::string& name, Rate rate);

/// a x b, both not negative, or `limit` + 1 if that is beyond `limit`.
std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t limit);

/// Grows a topology after refusing sizes beyond core/topology/limits.h. Sizes are what
/// capped_product() gives, so an overflow arrives here as "too large".
class Builder {
  public:
    Builder(const std::string& topology, std::int64_t nodes, std::int64_t links);

    /// Adds `count` nodes; returns the first id.
    NodeId add(NodeKind kind, std::int64_t count);
    void join(std::int64_t a, std::int64_t b, const Cable& cable, std::int64_t parallel = 1);
    /// Host i, of `hosts`, to switch first_switch + i / per_switch.
    void attach(std::int64_t hosts, std::int64_t per_switch, NodeId first_switch,
                const Cable& cable);

    Topology finish();

  private:
    Topology topology_;
};

}  // namespace sluice::build
