// SPDX-License-Identifier: Apache-2.0
#include "core/routing/base_rtt.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {
namespace {

/// Longer round trips are a mistake of the input; sums stay below it and so cannot overflow.
constexpr Tick kMaxRtt = 10'000 * kSecond;

/// What a cable adds to a path.
struct Cable {
    Tick rtt;            ///< twice its delay, and the transmission of one full packet
    std::uint32_t rate;  ///< index into the network's rates, ascending
};

/// What accumulates along a path.
struct Cost {
    Tick rtt = 0;
    std::uint32_t bottleneck = kNone;  ///< index of the least rate
};

/// A neighbour in the search, over one of parallel ports.
struct Neighbor {
    NodeId node;
    std::uint32_t cable;
};

/// Searches over the switches that have other switches for neighbours. One that joins nothing but
/// hosts, as an NVSwitch does, is on the way only between its own hosts: shared switches are looked
/// at without a search, so that 65,536 GPUs in servers need no more searches than their leaves.
class Search {
  public:
    Search(const Topology& topology, const BaseRttConfig& config)
        : topology_(topology),
          config_(config),
          inner_(topology.node_count(), 0),
          reached_(topology.node_count()) {
        list_rates();
        list_neighbors();
        classify();
    }

    /// Hosts on the same inner switches over the same kinds of cable, one of them, and their parts.
    struct HostClass {
        NodeId representative;
        std::uint32_t parts;
    };
    /// Hosts of a class that are on the same switches without neighbours, too. They have the same
    /// costs to others. Hosts cabled to a host directly have a part of their own.
    struct Part {
        NodeId representative;
        std::uint32_t host_class;
        bool several;
        bool on_lone_switch;
    };
    const std::vector<HostClass>& classes() const { return classes_; }
    const std::vector<Part>& parts() const { return parts_; }
    std::uint32_t part_of(NodeId host) const { return part_of_[host]; }
    std::uint32_t class_of(NodeId host) const { return parts_[part_of_[host]].host_class; }
    const std::vector<Rate>& rates() const { return rates_; }

    /// Searches from `dst` over the inner switches. Valid for every destination of its class.
    void from(NodeId dst) {
        for (const NodeId node : order_) {
            reached_[node].rank = kNone;
        }
        order_.clear();
        if (topology_.group_routing != GroupRouting::shortest) return from_among_groups(dst);
        visit_neighbors(dst, Cost{});
        for (std::size_t done = 0; done < order_.size(); ++done) {
            visit_neighbors(order_[done], reached_[order_[done]].cost);
        }
    }

    /// The cost from `src` to `dst` after from() a destination of dst's class.
    std::optional<Cost> cost_to(NodeId src, NodeId dst) const {
        if (parts_[part_of_[dst]].on_lone_switch) {
            if (const std::optional<Cost> direct = cost_over_shared(src, dst)) return direct;
        }
        return cost_over_search(src, dst);
    }

    /// The same by a cable between the two, or by way of the first of dst's switches that is src's,
    /// too; needs no search.
    std::optional<Cost> cost_over_shared(NodeId src, NodeId dst) const {
        for (const Neighbor& neighbor : neighbors(src)) {
            if (neighbor.node == dst) return extended(Cost{}, neighbor.cable);
        }
        for (const Neighbor& last : neighbors(dst)) {
            if (topology_.is_host(last.node)) continue;
            for (const Neighbor& first : neighbors(src)) {
                if (first.node == last.node) {
                    return extended(extended(Cost{}, last.cable), first.cable);
                }
            }
        }
        return std::nullopt;
    }

    /// The same for two that share no switch without neighbours.
    std::optional<Cost> cost_over_search(NodeId src, NodeId dst) const {
        const Neighbor* best = nullptr;
        for (const Neighbor& neighbor : neighbors(src)) {
            if (neighbor.node == dst) return extended(Cost{}, neighbor.cable);
            if (reached_[neighbor.node].rank != kNone &&
                (best == nullptr || reached_[neighbor.node].rank < reached_[best->node].rank)) {
                best = &neighbor;
            }
        }
        if (best == nullptr) return std::nullopt;
        return extended(reached_[best->node].cost, best->cable);
    }

    /// Calls `visit(a, b)`, ordered pairs of parts, for all that share a switch without neighbours.
    template <typename Visit>
    void for_each_sharing(const Visit& visit) const {
        std::vector<std::vector<std::uint32_t>> parts_on(topology_.node_count());
        for (std::uint32_t part = 0; part < parts_.size(); ++part) {
            for (const Neighbor& neighbor : neighbors(parts_[part].representative)) {
                if (is_lone(neighbor.node)) parts_on[neighbor.node].push_back(part);
            }
        }
        for (NodeId node = 0; node < parts_on.size(); ++node) {
            for (const std::uint32_t a : parts_on[node]) {
                for (const std::uint32_t b : parts_on[node]) {
                    if (first_lone_shared(a, b) == node) visit(a, b);
                }
            }
        }
    }

    BaseRtt base_rtt(const Cost& cost) const {
        __extension__ typedef unsigned __int128 Wide;  // 1 ms at 400 Gb/s exceeds 64 bits
        BaseRtt result;
        result.rtt = cost.rtt;
        if (result.rtt >= kMaxRtt) {
            throw ConfigError("base round-trip time too large (allowed: below " +
                              format_time(kMaxRtt) + ")");
        }
        result.bottleneck = rates_[cost.bottleneck];
        const Tick unit = config_.arithmetic == Arithmetic::ns3 ? kNanosecond : kPicosecond;
        const Wide bits = static_cast<Wide>(result.rtt / unit) *
                          static_cast<Wide>(result.bottleneck.bits_per_second) /
                          static_cast<Wide>(kSecond / unit);
        result.bdp = {static_cast<std::int64_t>(bits / 8)};
        return result;
    }

  private:
    /// The same where as few cables between groups as can be come first: what was found first among equals.
    void from_among_groups(NodeId dst) {
        using Found = std::tuple<std::uint64_t, std::uint64_t, NodeId>;  // distance, number, node
        std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
        std::map<NodeId, std::uint64_t> nearest;
        std::uint64_t number = 0;
        const auto visit = [&](NodeId node, std::uint64_t distance, const Cost& cost) {
            for (const Neighbor& neighbor : neighbors(node)) {
                const bool global =
                    !topology_.is_host(node) &&
                    topology_.switch_group[node] != topology_.switch_group[neighbor.node];
                const std::uint64_t over = distance + 1 + (global ? std::uint64_t{1} << 32U : 0);
                const auto [known, fresh] = nearest.try_emplace(neighbor.node, over);
                if (inner_[neighbor.node] == 0 || (!fresh && known->second <= over)) continue;
                known->second = over;
                reached_[neighbor.node].cost = extended(cost, neighbor.cable);
                found.emplace(over, number++, neighbor.node);
            }
        };
        visit(dst, 0, Cost{});
        while (!found.empty()) {
            const auto [distance, which, node] = found.top();
            found.pop();
            if (reached_[node].rank != kNone) continue;
            reached_[node].rank = static_cast<std::uint32_t>(order_.size());
            order_.push_back(node);
            visit(node, distance, reached_[node].cost);
        }
    }

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

    bool is_lone(NodeId node) const { return !topology_.is_host(node) && inner_[node] == 0; }

    NodeId first_lone_shared(std::uint32_t a, std::uint32_t b) const {
        for (const Neighbor& one : neighbors(parts_[a].representative)) {
            if (!is_lone(one.node)) continue;
            for (const Neighbor& other : neighbors(parts_[b].representative)) {
                if (other.node == one.node) return one.node;
            }
        }
        return kNone;
    }

    void list_rates() {
        for (const Link& link : topology_.links()) {
            if (rates_.empty() || rates_.back() != link.rate) rates_.push_back(link.rate);
        }
        std::sort(rates_.begin(), rates_.end());
        rates_.erase(std::unique(rates_.begin(), rates_.end()), rates_.end());
    }

    std::uint32_t cable_of(PortId port) {
        const Rate rate = topology_.rate(port);
        const Tick delay = topology_.delay(port);
        const auto [found, added] =
            cable_ids_.try_emplace({rate.bits_per_second, delay}, cables_.size());
        if (added) {
            const auto at = std::lower_bound(rates_.begin(), rates_.end(), rate);
            cables_.push_back(
                {cable_rtt(rate, delay), static_cast<std::uint32_t>(at - rates_.begin())});
        }
        return found->second;
    }

    Tick cable_rtt(Rate rate, Tick delay) const {
        Tick transmission = 0;
        if (config_.arithmetic == Arithmetic::ns3) {
            const auto scaled = static_cast<std::uint64_t>(config_.payload) * 1'000'000'000U * 8U;
            transmission =
                static_cast<Tick>(scaled / static_cast<std::uint64_t>(rate.bits_per_second)) *
                kNanosecond;
            delay = delay / kNanosecond * kNanosecond;
        } else {
            transmission = serialization_time(config_.payload, rate, Arithmetic::exact);
        }
        return std::min(2 * std::min(delay, kMaxRtt) + std::min(transmission, kMaxRtt), kMaxRtt);
    }

    void list_neighbors() {
        const auto nodes = static_cast<NodeId>(topology_.node_count());
        first_neighbor_.reserve(nodes + std::size_t{1});
        first_neighbor_.push_back(0);
        neighbors_.reserve(topology_.port_count());
        std::vector<PortId> ports;
        for (NodeId node = 0; node < nodes; ++node) {
            ports.clear();
            for (PortId port = topology_.first_port(node); port < topology_.first_port(node + 1);
                 ++port) {
                // A switch's search never continues into hosts.
                if (topology_.is_host(node) || !topology_.is_host(topology_.neighbor(port))) {
                    ports.push_back(port);
                }
            }
            const bool descending = config_.arithmetic == Arithmetic::ns3;
            std::sort(ports.begin(), ports.end(), [&](PortId a, PortId b) {
                const NodeId at_a = topology_.neighbor(a);
                const NodeId at_b = topology_.neighbor(b);
                return descending ? std::tie(at_b, b) < std::tie(at_a, a)
                                  : std::tie(at_a, a) < std::tie(at_b, b);
            });
            const auto same_neighbor = [&](PortId a, PortId b) {
                return topology_.neighbor(a) == topology_.neighbor(b);
            };
            ports.erase(std::unique(ports.begin(), ports.end(), same_neighbor), ports.end());
            inner_[node] = !topology_.is_host(node) && !ports.empty() ? 1 : 0;
            for (const PortId port : ports) {
                neighbors_.push_back({topology_.neighbor(port), cable_of(port)});
            }
            first_neighbor_.push_back(static_cast<std::uint32_t>(neighbors_.size()));
        }
    }

    void classify() {
        using Key = std::vector<std::uint32_t>;
        std::map<Key, std::uint32_t> known_classes;
        std::map<Key, std::uint32_t> known_parts;
        part_of_.assign(topology_.node_count(), kNone);
        for (const NodeId host : topology_.hosts()) {
            Key inner;
            Key lone;
            bool alone = false;
            for (const Neighbor& neighbor : neighbors(host)) {
                alone |= topology_.is_host(neighbor.node);
                Key& key = is_lone(neighbor.node) ? lone : inner;
                key.push_back(neighbor.node);
                key.push_back(neighbor.cable);
            }
            if (alone) inner.push_back(host);
            const bool on_lone_switch = !lone.empty();
            const auto [host_class, new_class] = known_classes.try_emplace(
                std::move(inner), static_cast<std::uint32_t>(classes_.size()));
            if (new_class) classes_.push_back({host, 0});
            lone.push_back(host_class->second);
            const auto [part, new_part] =
                known_parts.try_emplace(std::move(lone), static_cast<std::uint32_t>(parts_.size()));
            if (new_part) {
                parts_.push_back({host, host_class->second, false, on_lone_switch});
                ++classes_[host_class->second].parts;
            } else {
                parts_[part->second].several = true;
            }
            part_of_[host] = part->second;
        }
    }

    Cost extended(const Cost& cost, std::uint32_t cable) const {
        return {std::min(cost.rtt + cables_[cable].rtt, kMaxRtt),
                std::min(cost.bottleneck, cables_[cable].rate)};
    }

    void visit_neighbors(NodeId node, Cost cost) {
        for (const Neighbor& neighbor : neighbors(node)) {
            Reached& reached = reached_[neighbor.node];
            if (inner_[neighbor.node] == 0 || reached.rank != kNone) continue;
            reached.rank = static_cast<std::uint32_t>(order_.size());
            reached.cost = extended(cost, neighbor.cable);
            order_.push_back(neighbor.node);
        }
    }

    /// Of a switch: what it costs to get from it to the destination, and when the search found it.
    struct Reached {
        Cost cost;
        std::uint32_t rank = kNone;
    };

    const Topology& topology_;
    BaseRttConfig config_;
    std::vector<Rate> rates_;  ///< ascending
    std::vector<Cable> cables_;
    std::map<std::pair<std::int64_t, Tick>, std::uint32_t> cable_ids_;
    std::vector<std::uint32_t> first_neighbor_;
    std::vector<Neighbor> neighbors_;
    std::vector<std::uint8_t> inner_;  ///< by node: a switch that has switches for neighbours
    std::vector<HostClass> classes_;
    std::vector<Part> parts_;
    std::vector<std::uint32_t> part_of_;  ///< by host
    std::vector<Reached> reached_;
    std::vector<NodeId> order_;
};

/// The longest round trip for each bottleneck: the largest bandwidth-delay product is one of theirs.
class Longest {
  public:
    explicit Longest(const Search& search) : search_(search), rtt_(search.rates().size(), -1) {}

    void add(const std::optional<Cost>& cost) {
        if (cost) rtt_[cost->bottleneck] = std::max(rtt_[cost->bottleneck], cost->rtt);
    }

    BaseRtt result() const {
        BaseRtt largest;
        for (std::uint32_t rate = 0; rate < rtt_.size(); ++rate) {
            if (rtt_[rate] < 0) continue;
            const BaseRtt one = search_.base_rtt({rtt_[rate], rate});
            largest.rtt = std::max(largest.rtt, one.rtt);
            largest.bdp = std::max(largest.bdp, one.bdp);
        }
        return largest;
    }

  private:
    const Search& search_;
    std::vector<Tick> rtt_;  ///< by bottleneck; -1: no pair has it
};

}  // namespace

BaseRtt network_base_rtt(const Topology& topology, const BaseRttConfig& config) {
    Search search(topology, config);
    Longest longest(search);
    const std::vector<Search::Part>& parts = search.parts();
    const std::size_t classes = search.classes().size();
    // By class of destination and of source: pairs of parts that are no pair of hosts which share
    // no switch without neighbours.
    std::vector<std::map<std::uint32_t, std::uint64_t>> others(classes);
    for (const Search::Part& part : parts) {
        if (!part.several && !part.on_lone_switch) ++others[part.host_class][part.host_class];
    }
    search.for_each_sharing([&](std::uint32_t from, std::uint32_t to) {
        ++others[parts[to].host_class][parts[from].host_class];
        if (from != to || parts[to].several) {
            longest.add(
                search.cost_over_shared(parts[from].representative, parts[to].representative));
        }
    });
    const auto parts_of = [&](std::uint32_t c) { return std::uint64_t{search.classes()[c].parts}; };
    std::vector<std::uint8_t> without_pair(classes, 0);
    for (std::uint32_t to = 0; to < classes; ++to) {
        const NodeId dst = search.classes()[to].representative;
        search.from(dst);
        for (const auto& [from, pairs] : others[to]) {
            without_pair[from] = pairs == parts_of(from) * parts_of(to) ? 1 : 0;
        }
        for (std::uint32_t from = 0; from < classes; ++from) {
            if (without_pair[from] == 0) {
                longest.add(search.cost_over_search(search.classes()[from].representative, dst));
            }
        }
        for (const auto& [from, pairs] : others[to]) without_pair[from] = 0;
    }
    return longest.result();
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
