// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology.h"

#include <algorithm>

#include "core/error.h"
#include "core/text/quantity.h"
#include "core/topology/limits.h"

namespace sluice {

NodeId Topology::add_node(NodeKind kind) {
    if (kinds_.size() >= kMaxNodes) {
        throw ConfigError("too many nodes (allowed: at most " + std::to_string(kMaxNodes) + ")");
    }
    const auto id = static_cast<NodeId>(kinds_.size());
    kinds_.push_back(kind);
    if (kind == NodeKind::host) {
        hosts_.push_back(id);
    }
    return id;
}

LinkId Topology::add_link(const Link& link) {
    const auto refuse = [&](const std::string& why) {
        throw ConfigError("link " + std::to_string(link.a) + "-" + std::to_string(link.b) + ": " +
                          why);
    };
    if (link.a >= kinds_.size() || link.b >= kinds_.size()) {
        refuse("no such node (ids allowed: 0 to " +
               std::to_string(static_cast<std::int64_t>(kinds_.size()) - 1) + ")");
    }
    if (link.a == link.b) {
        refuse("joins a node to itself");
    }
    if (link.rate < kMinLinkRate || kMaxLinkRate < link.rate) {
        refuse("rate " + format_rate(link.rate) + " out of range (allowed: " +
               format_rate(kMinLinkRate) + " to " + format_rate(kMaxLinkRate) + ")");
    }
    if (link.delay < 0 || link.delay > kMaxLinkDelay) {
        refuse("delay " + format_time(link.delay) + " out of range (allowed: 0 to " +
               format_time(kMaxLinkDelay) + ")");
    }
    if (!(link.loss >= 0 && link.loss < 1)) {
        refuse("loss probability out of range (allowed: 0 to below 1)");
    }
    if (links_.size() >= kMaxLinks) {
        refuse("too many links (allowed: at most " + std::to_string(kMaxLinks) + ")");
    }
    links_.push_back(link);
    return static_cast<LinkId>(links_.size() - 1);
}

void Topology::finish() {
    first_port_.assign(kinds_.size() + 1, 0);
    for (const Link& link : links_) {
        ++first_port_[link.a + 1];
        ++first_port_[link.b + 1];
    }
    for (std::size_t node = 0; node < kinds_.size(); ++node) {
        first_port_[node + 1] += first_port_[node];
    }
    std::vector<PortId> next(first_port_.begin(), first_port_.end() - 1);
    ports_.resize(2 * links_.size());
    for (LinkId id = 0; id < links_.size(); ++id) {
        const Link& link = links_[id];
        const PortId at_a = next[link.a]++;
        const PortId at_b = next[link.b]++;
        ports_[at_a] = {link.a, id, at_b};
        ports_[at_b] = {link.b, id, at_a};
    }
}

std::vector<ServerPlace> server_places(const Topology& topology) {
    const std::uint32_t usual = std::max(1U, topology.gpus_per_server);
    std::vector<ServerPlace> places(topology.host_count());
    ServerPlace next;
    for (ServerPlace& place : places) {
        place = next;
        ++next.rail;
        const std::uint32_t size =
            next.server < topology.server_sizes.size() ? topology.server_sizes[next.server] : usual;
        if (next.rail == size) next = {next.server + 1, 0};
    }
    return places;
}

std::vector<std::int64_t> distinct_rates(const Topology& topology) {
    std::vector<std::int64_t> rates;
    for (PortId port = 0; port < topology.port_count(); ++port) {
        const std::int64_t rate = topology.rate(port).bits_per_second;
        if (std::find(rates.begin(), rates.end(), rate) == rates.end()) {
            rates.push_back(rate);
        }
    }
    return rates;
}

bool operator==(const Topology& x, const Topology& y) {
    // Hosts and ports follow from nodes and links.
    return x.kinds_ == y.kinds_ && x.links_ == y.links_ && x.name == y.name &&
           x.gpus_per_server == y.gpus_per_server && x.server_sizes == y.server_sizes &&
           x.gpu_type == y.gpu_type && x.switch_group == y.switch_group &&
           x.group_routing == y.group_routing && x.hop_weights == y.hop_weights &&
           x.port_owner == y.port_owner;
}

}  // namespace sluice
