// SPDX-License-Identifier: Apache-2.0
/// What Routing keeps, and how it is computed: routing.cpp's alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

#include "core/routing/hop_weights.h"
#include "core/routing/port_sets.h"
#include "core/routing/routing.h"
#include "core/routing/switch_graph.h"

namespace sluice {
namespace routing {

inline constexpr std::uint32_t kUnreachable = kNone;

/// What a cable between groups adds to a distance, where as few as can be are taken: more than all others of a way.
inline constexpr std::uint32_t kGlobalStep = (1U << 16U) + 1;

/// Where a switch sends packets for a group of destinations.
struct Entry {
    PortSets::SetId set = kNone;            ///< kNone if unreachable, or attached to the host
    std::uint32_t distance = kUnreachable;  ///< links to the host; 1: attached to it. Among
                                            ///< groups: by kGlobalStep
};
/// By switch index.
struct GroupTable {
    std::vector<Entry> entries;
    std::vector<std::uint32_t> rank;  ///< NextHopOrder::ns3: when the search found it, else empty
};

/// The hosts that hang on one set of switches, those without other switches for neighbours left out:
/// whether a host hangs on such a one is asked of the host, so that the GPUs of many servers, each
/// with an NVSwitch of its own, share the table of their leaves.
struct Group {
    std::vector<std::uint32_t> switches;  ///< indices, ascending
    std::atomic<const GroupTable*> table{nullptr};
    std::shared_ptr<const GroupTable> owner;
};

/// The next-hop sets that a host has needed so far: few, so a list is searched.
struct HostSet {
    PortSets::SetId set;
    const HostSet* next;
};

}  // namespace routing

struct Routing::Tables {
    Tables(const Topology& t, NextHopOrder o, std::size_t bytes)
        : topology(t),
          next_hop_order(o),
          table_bytes(bytes),
          graph(t),
          live_count(t.node_count(), 0),
          group_of(t.node_count(), kNone),
          far_ports(t.port_count(), kNone),
          host_sets(t.node_count()) {
        if (t.group_routing != GroupRouting::shortest) {
            zone.assign(graph.size(), kNone);
            for (NodeId node = 0; node < t.node_count(); ++node) {
                if (graph.index_of(node) != kNone) {
                    zone[graph.index_of(node)] = t.switch_group[node];
                }
            }
        }
        for (const NodeId host : topology.hosts()) {
            attach(host);
        }
    }

    /// Lists the far ends of the host's live cables and puts it into its group.
    void attach(NodeId host) {
        PortId* const first = far_ports.data() + topology.first_port(host);
        PortId* last = first;
        std::vector<std::uint32_t> switches;
        for (PortId port = topology.first_port(host); port < topology.first_port(host + 1);
             ++port) {
            if (!graph.link_up(topology.link_of(port))) {
                continue;
            }
            *last++ = topology.peer_of(port);
            const std::uint32_t index = graph.index_of(topology.neighbor(port));
            if (index != kNone && !graph.is_lone(index)) {
                switches.push_back(index);
            }
        }
        std::sort(first, last);
        live_count[host] = static_cast<std::uint32_t>(last - first);
        std::sort(switches.begin(), switches.end());
        switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
        const auto [found, added] =
            group_ids.try_emplace(switches, static_cast<std::uint32_t>(groups.size()));
        if (added) {
            groups.emplace_back().switches = std::move(switches);
        }
        group_of[host] = found->second;
        some_go = groups.size() > kept_tables();
    }

    /// How many tables `table_bytes` hold.
    std::size_t kept_tables() const {
        return std::max<std::size_t>(
            2, table_bytes / std::max<std::size_t>(1, graph.size() * sizeof(routing::Entry)));
    }

    /// The table stays while the pointer does, whatever other threads ask for meanwhile.
    using TablePointer = std::shared_ptr<const routing::GroupTable>;

    TablePointer table_for(NodeId dst) {
        routing::Group& group = groups[group_of[dst]];
        if (!some_go) {
            // Without an owner: nothing is counted where no table goes.
            return {TablePointer{}, &table_of(group)};
        }
        const std::lock_guard<std::mutex> lock(building);
        if (group.owner == nullptr) {
            group.owner = build(group);
            in_order_of_building.push_back(&group);
            if (in_order_of_building.size() > kept_tables()) {
                in_order_of_building.front()->owner.reset();
                in_order_of_building.pop_front();
            }
        }
        return group.owner;
    }

    const routing::GroupTable& table_of(routing::Group& group) {
        const routing::GroupTable* table = group.table.load(std::memory_order_acquire);
        if (table == nullptr) {
            const std::lock_guard<std::mutex> lock(building);
            table = group.table.load(std::memory_order_relaxed);
            if (table == nullptr) {
                group.owner = build(group);
                table = group.owner.get();
                group.table.store(table, std::memory_order_release);
            }
        }
        return *table;
    }

    /// By how much the distances of neighbours on a shortest way differ.
    std::uint32_t step(std::uint32_t from, std::uint32_t to) const {
        return zone.empty() || zone[from] == zone[to] ? 1 : routing::kGlobalStep;
    }

    /// The links of a distance.
    std::uint32_t links(std::uint32_t distance) const {
        return zone.empty() ? distance : distance & 0xffffU;
    }

    /// The same as search() where steps differ.
    void search_among_groups(const routing::Group& group, std::vector<routing::Entry>& entries) {
        using Reached = std::pair<std::uint32_t, std::uint32_t>;  // distance, index
        std::priority_queue<Reached, std::vector<Reached>, std::greater<>> reached;
        order.clear();
        for (const std::uint32_t index : group.switches) {
            entries[index].distance = 1;
            reached.emplace(1, index);
        }
        while (!reached.empty()) {
            const auto [distance, index] = reached.top();
            reached.pop();
            if (distance != entries[index].distance) continue;  // found nearer since
            order.push_back(index);
            for (const SwitchGraph::Edge& edge : graph.edges(index)) {
                const std::uint32_t over = distance + step(index, edge.to);
                if (over < entries[edge.to].distance) {
                    entries[edge.to].distance = over;
                    reached.emplace(over, edge.to);
                }
            }
        }
    }

    /// Fills `order` with the switches that a breadth-first search from the group's finds, and their
    /// distances.
    void search(const routing::Group& group, std::vector<routing::Entry>& entries) {
        if (!zone.empty()) return search_among_groups(group, entries);
        const bool descending = next_hop_order == NextHopOrder::ns3;
        order.clear();
        for (const std::uint32_t index : group.switches) {
            entries[index].distance = 1;
            order.push_back(index);
        }
        if (descending) {
            std::reverse(order.begin(), order.end());
        }
        for (std::size_t done = 0; done < order.size(); ++done) {
            const std::uint32_t next_distance = entries[order[done]].distance + 1;
            const std::size_t found = order.size();
            for (const SwitchGraph::Edge& edge : graph.edges(order[done])) {
                if (entries[edge.to].distance == routing::kUnreachable) {
                    entries[edge.to].distance = next_distance;
                    order.push_back(edge.to);
                }
            }
            if (descending) {
                std::sort(order.begin() + static_cast<std::ptrdiff_t>(found), order.end(),
                          std::greater<>());
            }
        }
    }

    /// When ns-3's search finds the node that the port leads to, among those as far from the
    /// destination; hosts' neighbours that are hosts come last.
    std::uint32_t rank_of(PortId port, const routing::GroupTable& table) const {
        const std::uint32_t index = graph.index_of(topology.neighbor(port));
        if (index == kNone) {
            return kNone;
        }
        // What the destination hangs on is found by descending index.
        const bool next_to_it = graph.is_lone(index) || table.entries[index].distance == 1;
        return next_to_it ? static_cast<std::uint32_t>(graph.size()) - index : table.rank[index];
    }

    /// Puts equal-cost next hops, ascending ports so far, into ns-3's order.
    void order_as_ns3(std::vector<PortId>& ports, const routing::GroupTable& table) const {
        std::stable_sort(ports.begin(), ports.end(),
                         [&](PortId a, PortId b) { return rank_of(a, table) < rank_of(b, table); });
        const auto same_neighbor = [&](PortId a, PortId b) {
            return topology.neighbor(a) == topology.neighbor(b);
        };
        // Of parallel cables the last stays: erase from behind.
        ports.erase(ports.begin(), std::unique(ports.rbegin(), ports.rend(), same_neighbor).base());
    }

    /// Breadth-first from the group's switches, then the next hops of every switch reached.
    TablePointer build(const routing::Group& group) {
        auto table = std::make_shared<routing::GroupTable>();
        table->entries.resize(graph.size());
        std::vector<routing::Entry>& entries = table->entries;
        search(group, entries);
        if (next_hop_order == NextHopOrder::ns3) {
            table->rank.assign(graph.size(), kNone);
            for (std::size_t i = 0; i < order.size(); ++i) {
                table->rank[order[i]] = static_cast<std::uint32_t>(i);
            }
        }
        for (std::size_t i = group.switches.size(); i < order.size(); ++i) {
            routing::Entry& entry = entries[order[i]];
            bool over_nvswitch = false;
            hops.clear();
            for (const SwitchGraph::Edge& edge : graph.edges(order[i])) {
                const std::uint32_t there = entries[edge.to].distance;
                if (there == routing::kUnreachable ||
                    there + step(order[i], edge.to) != entry.distance) {
                    continue;
                }
                const bool nvswitch = graph.is_nvswitch(edge.to);
                if (nvswitch && !over_nvswitch) {
                    over_nvswitch = true;
                    hops.clear();
                }
                if (nvswitch == over_nvswitch) {
                    hops.push_back(edge.port);
                }
            }
            if (next_hop_order == NextHopOrder::ns3) {
                order_as_ns3(hops, *table);
            }
            if (topology.hop_weights == HopWeights::rate) {
                repeat_by_rate(topology, hops);
            }
            entry.set = sets.intern(hops);
        }
        return table;
    }

    /// Links from a host to `dst` by way of its port `port`, or routing::kUnreachable.
    std::uint32_t distance_over(PortId port, NodeId dst, const routing::GroupTable& table) const {
        if (!graph.link_up(topology.link_of(port))) {
            return routing::kUnreachable;
        }
        const NodeId neighbor = topology.neighbor(port);
        if (neighbor == dst) {
            return 1;
        }
        const std::uint32_t index = graph.index_of(neighbor);
        if (index == kNone) {
            return routing::kUnreachable;
        }
        const std::uint32_t distance = switch_distance(index, neighbor, dst, table);
        return distance == routing::kUnreachable ? routing::kUnreachable : distance + 1;
    }

    std::uint32_t switch_distance(std::uint32_t index, NodeId node, NodeId dst,
                                  const routing::GroupTable& table) const {
        if (graph.is_lone(index)) {
            return attached_ports(node, dst).empty() ? routing::kUnreachable : 1;
        }
        return table.entries[index].distance;
    }

    struct HostChoice {
        std::uint32_t distance = routing::kUnreachable;
        bool over_nvswitch = false;
    };

    HostChoice choose(NodeId host, NodeId dst, const routing::GroupTable& table) const {
        HostChoice best;
        for (PortId port = topology.first_port(host); port < topology.first_port(host + 1);
             ++port) {
            const std::uint32_t distance = distance_over(port, dst, table);
            if (distance == routing::kUnreachable || distance > best.distance) {
                continue;
            }
            if (distance < best.distance) {
                best = {distance, false};
            }
            best.over_nvswitch |= topology.kind(topology.neighbor(port)) == NodeKind::nvswitch;
        }
        return best;
    }

    /// Next hops of a host are found from the distances of its few neighbours instead of being
    /// stored per destination: that keeps tables proportional to switches, not hosts.
    PortRange host_hops(NodeId host, NodeId dst) {
        const TablePointer kept = table_for(dst);
        const routing::GroupTable& table = *kept;
        const HostChoice best = choose(host, dst, table);
        if (best.distance == routing::kUnreachable) {
            return {nullptr, nullptr};
        }
        std::vector<PortId> chosen;
        for (PortId port = topology.first_port(host); port < topology.first_port(host + 1);
             ++port) {
            if (distance_over(port, dst, table) == best.distance &&
                (topology.kind(topology.neighbor(port)) == NodeKind::nvswitch) ==
                    best.over_nvswitch) {
                chosen.push_back(port);
            }
        }
        if (next_hop_order == NextHopOrder::ns3) {
            order_as_ns3(chosen, table);
        }
        std::atomic<const routing::HostSet*>& head = host_sets[host];
        if (const routing::HostSet* known =
                find_host_set(head.load(std::memory_order_acquire), chosen)) {
            return range(known->set);
        }
        const std::lock_guard<std::mutex> lock(building);
        const routing::HostSet* newest = head.load(std::memory_order_relaxed);
        const routing::HostSet* known = find_host_set(newest, chosen);
        if (known == nullptr) {
            known = &host_set_store.emplace_back(routing::HostSet{sets.intern(chosen), newest});
            head.store(known, std::memory_order_release);
        }
        return range(known->set);
    }

    const routing::HostSet* find_host_set(const routing::HostSet* list,
                                          const std::vector<PortId>& ports) const {
        for (; list != nullptr; list = list->next) {
            const PortRange known = range(list->set);
            if (std::equal(known.begin(), known.end(), ports.begin(), ports.end())) {
                return list;
            }
        }
        return nullptr;
    }

    PortRange range(PortSets::SetId set) const {
        const PortId* first = sets.ports(set);
        return {first, first + sets.size(set)};
    }

    /// The switch's own ports to the host it is attached to.
    PortRange attached_ports(NodeId node, NodeId dst) const {
        const PortId* first = far_ports.data() + topology.first_port(dst);
        const PortId* last = first + live_count[dst];
        const PortRange ports{std::lower_bound(first, last, topology.first_port(node)),
                              std::lower_bound(first, last, topology.first_port(node + 1))};
        const bool last_only = next_hop_order == NextHopOrder::ns3 && !ports.empty();
        return last_only ? PortRange{ports.last - 1, ports.last} : ports;
    }

    /// A link matters to a table only if it joins switches at different distances: going down it
    /// was on a shortest path then, coming up it becomes part of one.
    void drop_tables_that_see(std::uint32_t a, std::uint32_t b) {
        for (routing::Group& group : groups) {
            if (group.owner != nullptr &&
                group.owner->entries[a].distance != group.owner->entries[b].distance) {
                group.table.store(nullptr, std::memory_order_relaxed);
                group.owner.reset();
            }
        }
        in_order_of_building.erase(
            std::remove_if(in_order_of_building.begin(), in_order_of_building.end(),
                           [](const routing::Group* group) { return group->owner == nullptr; }),
            in_order_of_building.end());
    }

    const Topology& topology;
    const NextHopOrder next_hop_order;
    const std::size_t table_bytes;
    SwitchGraph graph;
    std::vector<std::uint32_t> zone;  ///< by switch index, its group; empty: all cables count alike
    std::vector<std::uint32_t> live_count;  ///< by host: its live cables
    std::vector<std::uint32_t> group_of;    ///< by host
    /// From first_port(host) on: the other ends of the host's live cables, ascending.
    std::vector<PortId> far_ports;
    std::map<std::vector<std::uint32_t>, std::uint32_t> group_ids;
    std::deque<routing::Group> groups;
    bool some_go = false;  ///< not all tables are kept; changes only while nothing is asked for

    std::mutex building;  ///< guards everything below, and Group::owner
    std::deque<routing::Group*>
        in_order_of_building;  ///< while some tables go: those that are there
    PortSets sets;
    std::vector<std::atomic<const routing::HostSet*>> host_sets;  ///< by host: newest first
    std::deque<routing::HostSet> host_set_store;
    std::vector<std::uint32_t> order;  ///< work space of build()
    std::vector<PortId> hops;          ///< work space of build()
};

}  // namespace sluice
