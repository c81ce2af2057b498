// SPDX-License-Identifier: Apache-2.0
#include "core/topology/builder_support.h"

#include <utility>

#include "core/error.h"
#include "core/text/quantity.h"
#include "core/topology/limits.h"

namespace sluice::build {

void require(bool condition, const std::string& topology, const std::string& message) {
    if (!condition) {
        throw ConfigError(topology + ": " + message);
    }
}

void require_between(const std::string& topology, const std::string& name, std::int64_t value,
                     std::int64_t lowest, std::int64_t highest) {
    require(value >= lowest && value <= highest, topology,
            name + " " + std::to_string(value) + " out of range (allowed: " +
                std::to_string(lowest) + " to " + std::to_string(highest) + ")");
}

void require_rate(const std::string& topology, const std::string& name, Rate rate) {
    require(!(rate < kMinLinkRate) && !(kMaxLinkRate < rate), topology,
            name + " rate " + format_rate(rate) + " out of range (allowed: " +
                format_rate(kMinLinkRate) + " to " + format_rate(kMaxLinkRate) + ")");
}

std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t limit) {
    if (a == 0 || b == 0) {
        return 0;
    }
    return a > limit / b ? limit + 1 : a * b;
}

Builder::Builder(const std::string& topology, std::int64_t nodes, std::int64_t links) {
    require(nodes <= kMaxNodes, topology,
            "too large (allowed: at most " + std::to_string(kMaxNodes) + " nodes)");
    require(links <= kMaxLinks, topology,
            "too large (allowed: at most " + std::to_string(kMaxLinks) + " links)");
    topology_.name = topology;
}

NodeId Builder::add(NodeKind kind, std::int64_t count) {
    const auto first = static_cast<NodeId>(topology_.node_count());
    for (std::int64_t i = 0; i < count; ++i) {
        topology_.add_node(kind);
    }
    return first;
}

void Builder::join(std::int64_t a, std::int64_t b, const Cable& cable, std::int64_t parallel) {
    for (std::int64_t i = 0; i < parallel; ++i) {
        topology_.add_link(
            {static_cast<NodeId>(a), static_cast<NodeId>(b), cable.rate, cable.delay, cable.loss});
    }
}

void Builder::attach(std::int64_t hosts, std::int64_t per_switch, NodeId first_switch,
                     const Cable& cable) {
    for (std::int64_t host = 0; host < hosts; ++host) {
        join(host, first_switch + host / per_switch, cable);
    }
}

Topology Builder::finish() {
    topology_.finish();
    return std::move(topology_);
}

}  // namespace sluice::build
