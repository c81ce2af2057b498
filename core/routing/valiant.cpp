// SPDX-License-Identifier: Apache-2.0
#include "core/routing/valiant.h"

#include <algorithm>
#include <utility>

#include "core/random.h"
#include "core/routing/paths.h"

namespace sluice {

namespace {

constexpr std::uint64_t kGroupDraws = 0x76616c69616e74;
constexpr std::uint64_t kCableDraws = 0x76616c69616e75;

/// A global cable's port at a group, and the group that it leads to.
using GlobalPort = std::pair<std::uint32_t, PortId>;

class Detours {
  public:
    Detours(const Topology& topology, const Routing& routing, std::uint64_t seed)
        : topology_(topology), routing_(routing), seed_(seed) {
        const std::vector<std::uint32_t>& group = topology.switch_group;
        for (PortId port = 0; port < topology.port_count(); ++port) {
            const std::uint32_t from = group[topology.node_of(port)];
            const std::uint32_t to = group[topology.neighbor(port)];
            if (from == kNone || to == kNone) continue;
            if (from >= ports_of_.size()) ports_of_.resize(from + std::size_t{1});
            if (from != to) ports_of_[from].push_back({to, port});
        }
        for (std::vector<GlobalPort>& ports : ports_of_) std::sort(ports.begin(), ports.end());
    }

    std::vector<PortId> way(const FlowKey& key) const {
        const PortId first = topology_.first_port(key.src);
        const NodeId router = topology_.neighbor(first);
        const std::uint32_t from = topology_.switch_group[router];
        const std::uint32_t to =
            topology_.switch_group[topology_.neighbor(topology_.first_port(key.dst))];
        const auto groups = static_cast<std::uint32_t>(ports_of_.size());
        if (from == to || groups < 3) return {};
        const PortId cable = cable_to(from, group_between(from, to, groups, key), key);
        if (cable == kNone) return {};
        std::vector<PortId> ports = {first};
        const NodeId gateway = topology_.node_of(cable);
        if (gateway != router) ports.push_back(port_towards(topology_, router, gateway));
        ports.push_back(cable);
        for (NodeId node = topology_.neighbor(cable); node != key.dst;) {
            ports.push_back(routing_.select(node, key));
            if (ports.back() == kNone) return {};
            node = topology_.neighbor(ports.back());
        }
        return ports;
    }

  private:
    std::uint64_t draw(std::uint64_t purpose, const FlowKey& key) const {
        const std::uint64_t ends = std::uint64_t{key.src} << 32U | key.dst;
        return random_bits(seed_, random_stream(purpose, mix_bits(ends)),
                           std::uint64_t{key.sport} << 16U | key.dport);
    }

    static std::uint32_t below(std::uint64_t bits, std::uint64_t bound) {
        return static_cast<std::uint32_t>(((bits >> 32U) * bound) >> 32U);
    }

    /// Any but the two.
    std::uint32_t group_between(std::uint32_t from, std::uint32_t to, std::uint32_t groups,
                                const FlowKey& key) const {
        std::uint32_t group = below(draw(kGroupDraws, key), groups - 2);
        group += group >= std::min(from, to) ? 1 : 0;
        return group + (group >= std::max(from, to) ? 1 : 0);
    }

    /// One of those that join the two groups, as many as there are.
    PortId cable_to(std::uint32_t from, std::uint32_t to, const FlowKey& key) const {
        const std::vector<GlobalPort>& ports = ports_of_[from];
        const auto first = std::lower_bound(ports.begin(), ports.end(), GlobalPort{to, 0});
        const auto last = std::lower_bound(first, ports.end(), GlobalPort{to + 1, 0});
        if (first == last) return kNone;
        return first[below(draw(kCableDraws, key), static_cast<std::uint64_t>(last - first))]
            .second;
    }

    const Topology& topology_;
    const Routing& routing_;
    std::uint64_t seed_;
    std::vector<std::vector<GlobalPort>> ports_of_;  ///< by group, ascending
};

}  // namespace

std::vector<FlowPath> valiant_paths(const Topology& topology, const Routing& routing,
                                    const std::vector<FlowSpec>& flows, std::uint64_t seed) {
    const Detours detours(topology, routing, seed);
    std::vector<FlowPath> paths;
    paths.reserve(flows.size());
    for (const FlowSpec& flow : flows) {
        paths.push_back({detours.way(data_key(flow)), detours.way(ack_key(flow))});
    }
    return paths;
}

void widen_to_path(BaseRtt& base, const Topology& topology, const BaseRttConfig& config,
                   const std::vector<PortId>& path) {
    if (topology.group_routing != GroupRouting::valiant || path.empty()) return;
    __extension__ typedef unsigned __int128 Wide;
    Tick rtt = 0;
    Rate least = topology.rate(path.front());
    for (const PortId port : path) {
        rtt += 2 * topology.delay(port) +
               serialization_time(config.payload, topology.rate(port), config.arithmetic);
        least = std::min(least, topology.rate(port));
    }
    const Wide bits = static_cast<Wide>(rtt) * static_cast<Wide>(least.bits_per_second) /
                      static_cast<Wide>(kSecond);
    base.rtt = std::max(base.rtt, rtt);
    base.bdp = std::max(base.bdp, Bytes{static_cast<std::int64_t>(bits / 8)});
}

}  // namespace sluice
