// SPDX-License-Identifier: Apache-2.0
#include "core/routing/base_rtt.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {
namespace {

/// Longer round trips are a mistake of the input; sums stay below it and so cannot overflow.
constexpr Tick kMaxRtt = 10'000 * kSecond;

/// What accumulates along a path.
struct Cost {
    Tick delay = 0;         ///< one way
    Tick transmission = 0;  ///< of one full packet, over all links
    Rate bottleneck{std::numeric_limits<std::int64_t>::max()};
};

/// A neighbour in the search, over one of parallel ports.
struct Neighbor {
    NodeId node;
    PortId port;
};

class Search {
  public:
    Search(const Topology& topology, const BaseRttConfig& config)
        : topology_(topology),
          config_(config),
          class_of_(topology.node_count(), kNone),
          cost_(topology.node_count()),
          rank_(topology.node_count(), kNone) {
        list_neighbors();
        classify();
    }

    /// One host of each class, and whether the class has more.
    struct HostClass {
        NodeId representative;
        bool several;
    };
    const std::vector<HostClass>& classes() const { return classes_; }
    std::uint32_t class_of(NodeId host) const { return class_of_[host]; }

    /// Searches from `dst` over the switches. Valid for every destination of its class.
    void from(NodeId dst) {
        for (const NodeId node : order_) {
            rank_[node] = kNone;
        }
        order_.clear();
        Cost start;
        visit_neighbors(dst, start);
        for (std::size_t done = 0; done < order_.size(); ++done) {
            const NodeId node = order_[done];
            visit_neighbors(node, cost_[node]);
        }
    }

    /// The cost from `src` to `dst` after from() a destination of dst's class.
    std::optional<Cost> cost_to(NodeId src, NodeId dst) const {
        const Neighbor* best = nullptr;
        for (const Neighbor& neighbor : neighbors(src)) {
            if (neighbor.node == dst) {
                return extended(Cost{}, neighbor.port);
            }
            if (rank_[neighbor.node] != kNone &&
                (best == nullptr || rank_[neighbor.node] < rank_[best->node])) {
                best = &neighbor;
            }
        }
        if (best == nullptr) {
            return std::nullopt;
        }
        return extended(cost_[best->node], best->port);
    }

    BaseRtt base_rtt(const Cost& cost) const {
        __extension__ typedef unsigned __int128 Wide;  // 1 ms at 400 Gb/s exceeds 64 bits
        BaseRtt result;
        result.rtt = 2 * cost.delay + cost.transmission;
        if (result.rtt >= kMaxRtt) {
            throw ConfigError("base round-trip time too large (allowed: below " +
                              format_time(kMaxRtt) + ")");
        }
        const Tick unit = config_.arithmetic == Arithmetic::ns3 ? kNanosecond : kPicosecond;
        const Wide bits = static_cast<Wide>(result.rtt / unit) *
                          static_cast<Wide>(cost.bottleneck.bits_per_second) /
                          static_cast<Wide>(kSecond / unit);
        result.bdp = {static_cast<std::int64_t>(bits / 8)};
        result.bottleneck = cost.bottleneck;
        return result;
    }

  private:
    struct NeighborRange {
        const Neighbor* first;
        const Neighbor* last;
        const Neighbor* begin() const { return first; }
        const Neighbor* end() const { return last; }
    };
    NeighborRange neighbors(NodeId node) const {
        return {neighbors_.data() + first_neighbor_[node],
                neighbors_.data() + first_neighbor_[node + 1]};
    }

    void list_neighbors() {
        const auto nodes = static_cast<NodeId>(topology_.node_count());
        first_neighbor_.reserve(nodes + std::size_t{1});
        first_neighbor_.push_back(0);
        neighbors_.reserve(topology_.port_count());
        for (NodeId node = 0; node < nodes; ++node) {
            const auto first = static_cast<std::ptrdiff_t>(neighbors_.size());
            for (PortId port = topology_.first_port(node); port < topology_.first_port(node + 1);
                 ++port) {
                const NodeId neighbor = topology_.neighbor(port);
                // A switch's search never continues into hosts.
                if (topology_.is_host(node) || !topology_.is_host(neighbor)) {
                    neighbors_.push_back({neighbor, port});
                }
            }
            const bool descending = config_.arithmetic == Arithmetic::ns3;
            std::sort(neighbors_.begin() + first, neighbors_.end(),
                      [&](const Neighbor& a, const Neighbor& b) {
                          return descending ? std::tie(b.node, b.port) < std::tie(a.node, a.port)
                                            : std::tie(a.node, a.port) < std::tie(b.node, b.port);
                      });
            neighbors_.erase(
                std::unique(neighbors_.begin() + first, neighbors_.end(),
                            [](const Neighbor& a, const Neighbor& b) { return a.node == b.node; }),
                neighbors_.end());
            first_neighbor_.push_back(static_cast<std::uint32_t>(neighbors_.size()));
        }
    }

    /// Hosts with the same neighbours over the same kinds of cable have the same costs to others.
    /// Hosts cabled to a host directly have a class of their own.
    void classify() {
        std::map<std::vector<std::int64_t>, std::uint32_t> known;
        for (const NodeId host : topology_.hosts()) {
            std::vector<std::int64_t> key;
            bool alone = false;
            for (const Neighbor& neighbor : neighbors(host)) {
                alone |= topology_.is_host(neighbor.node);
                key.push_back(neighbor.node);
                key.push_back(topology_.rate(neighbor.port).bits_per_second);
                key.push_back(topology_.delay(neighbor.port));
            }
            if (alone) {
                key.push_back(host);
            }
            const auto [found, added] =
                known.try_emplace(std::move(key), static_cast<std::uint32_t>(classes_.size()));
            if (added) {
                classes_.push_back({host, false});
            } else {
                classes_[found->second].several = true;
            }
            class_of_[host] = found->second;
        }
    }

    Cost extended(const Cost& cost, PortId port) const {
        const Rate rate = topology_.rate(port);
        Cost longer = cost;
        if (config_.arithmetic == Arithmetic::ns3) {
            const auto scaled = static_cast<std::uint64_t>(config_.payload) * 1'000'000'000U * 8U;
            const std::uint64_t nanoseconds =
                scaled / static_cast<std::uint64_t>(rate.bits_per_second);
            longer.transmission += static_cast<Tick>(nanoseconds) * kNanosecond;
            longer.delay += topology_.delay(port) / kNanosecond * kNanosecond;
        } else {
            longer.transmission += serialization_time(config_.payload, rate, Arithmetic::exact);
            longer.delay += topology_.delay(port);
        }
        longer.transmission = std::min(longer.transmission, kMaxRtt);
        longer.delay = std::min(longer.delay, kMaxRtt);
        longer.bottleneck = std::min(longer.bottleneck, rate);
        return longer;
    }

    void visit_neighbors(NodeId node, const Cost& cost) {
        for (const Neighbor& neighbor : neighbors(node)) {
            if (topology_.is_host(neighbor.node) || rank_[neighbor.node] != kNone) {
                continue;
            }
            rank_[neighbor.node] = static_cast<std::uint32_t>(order_.size());
            cost_[neighbor.node] = extended(cost, neighbor.port);
            order_.push_back(neighbor.node);
        }
    }

    const Topology& topology_;
    BaseRttConfig config_;
    std::vector<std::uint32_t> first_neighbor_;
    std::vector<Neighbor> neighbors_;
    std::vector<HostClass> classes_;
    std::vector<std::uint32_t> class_of_;  ///< by host
    std::vector<Cost> cost_;               ///< by switch: to the destination
    std::vector<std::uint32_t> rank_;      ///< by switch: when the search found it
    std::vector<NodeId> order_;
};

}  // namespace

BaseRtt network_base_rtt(const Topology& topology, const BaseRttConfig& config) {
    Search search(topology, config);
    BaseRtt largest;
    for (std::uint32_t to = 0; to < search.classes().size(); ++to) {
        const NodeId dst = search.classes()[to].representative;
        search.from(dst);
        for (std::uint32_t from = 0; from < search.classes().size(); ++from) {
            if (from == to && !search.classes()[to].several) {
                continue;
            }
            const std::optional<Cost> cost =
                search.cost_to(search.classes()[from].representative, dst);
            if (cost) {
                const BaseRtt one = search.base_rtt(*cost);
                largest.rtt = std::max(largest.rtt, one.rtt);
                largest.bdp = std::max(largest.bdp, one.bdp);
            }
        }
    }
    return largest;
}

std::vector<BaseRtt> pair_base_rtts(const Topology& topology, const BaseRttConfig& config,
                                    const std::vector<std::pair<NodeId, NodeId>>& pairs) {
    Search search(topology, config);
    std::vector<std::size_t> by_destination(pairs.size());
    std::iota(by_destination.begin(), by_destination.end(), std::size_t{0});
    std::stable_sort(by_destination.begin(), by_destination.end(),
                     [&](std::size_t a, std::size_t b) {
                         return search.class_of(pairs[a].second) < search.class_of(pairs[b].second);
                     });
    std::vector<BaseRtt> results(pairs.size());
    std::uint32_t current = kNone;
    for (const std::size_t i : by_destination) {
        const auto& [src, dst] = pairs[i];
        if (search.class_of(dst) != current) {
            search.from(dst);
            current = search.class_of(dst);
        }
        if (const std::optional<Cost> cost = src == dst ? std::nullopt : search.cost_to(src, dst)) {
            results[i] = search.base_rtt(*cost);
        }
    }
    return results;
}

}  // namespace sluice
