// SPDX-License-Identifier: Apache-2.0
#include "core/routing/routing.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/routing/port_sets.h"
#include "core/routing/switch_graph.h"

namespace sluice {
namespace {

constexpr std::uint32_t kUnreachable = kNone;

/// Where a switch sends packets for a group of destinations.
struct Entry {
    PortSets::SetId set = kNone;            ///< kNone if unreachable, or attached to the host
    std::uint32_t distance = kUnreachable;  ///< links to the host; 1: attached to it
};
/// By switch index.
struct GroupTable {
    std::vector<Entry> entries;
    std::vector<std::uint32_t> rank;  ///< NextHopOrder::ns3: when the search found it, else empty
};

/// The hosts that hang on one set of switches.
struct Group {
    std::vector<std::uint32_t> switches;  ///< indices, ascending
    std::atomic<const GroupTable*> table{nullptr};
    std::unique_ptr<const GroupTable> owner;
};

/// The next-hop sets that a host has needed so far: few, so a list is searched.
struct HostSet {
    PortSets::SetId set;
    const HostSet* next;
};

}  // namespace

struct Routing::Tables {
    Tables(const Topology& t, NextHopOrder o)
        : topology(t),
          next_hop_order(o),
          graph(t),
          live_count(t.node_count(), 0),
          group_of(t.node_count(), kNone),
          far_ports(t.port_count(), kNone),
          host_sets(t.node_count()) {
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
            if (index != kNone) {
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
    }

    const GroupTable& table_for(NodeId dst) { return table_of(groups[group_of[dst]]); }

    const GroupTable& table_of(Group& group) {
        const GroupTable* table = group.table.load(std::memory_order_acquire);
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

    /// Fills `order` with the switches that a breadth-first search from the group's finds, and their
    /// distances.
    void search(const Group& group, std::vector<Entry>& entries) {
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
                if (entries[edge.to].distance == kUnreachable) {
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

    /// The node that a rank is asked for; hosts' neighbours that are hosts come last.
    std::uint32_t rank_of(PortId port, const GroupTable& table) const {
        const std::uint32_t index = graph.index_of(topology.neighbor(port));
        return index == kNone ? kNone : table.rank[index];
    }

    /// Puts equal-cost next hops, ascending ports so far, into ns-3's order.
    void order_as_ns3(std::vector<PortId>& ports, const GroupTable& table) const {
        std::stable_sort(ports.begin(), ports.end(),
                         [&](PortId a, PortId b) { return rank_of(a, table) < rank_of(b, table); });
        const auto same_neighbor = [&](PortId a, PortId b) {
            return topology.neighbor(a) == topology.neighbor(b);
        };
        // Of parallel cables the last stays: erase from behind.
        ports.erase(ports.begin(), std::unique(ports.rbegin(), ports.rend(), same_neighbor).base());
    }

    /// Breadth-first from the group's switches, then the next hops of every switch reached.
    std::unique_ptr<const GroupTable> build(const Group& group) {
        auto table = std::make_unique<GroupTable>();
        table->entries.resize(graph.size());
        std::vector<Entry>& entries = table->entries;
        search(group, entries);
        if (next_hop_order == NextHopOrder::ns3) {
            table->rank.assign(graph.size(), kNone);
            for (std::size_t i = 0; i < order.size(); ++i) {
                table->rank[order[i]] = static_cast<std::uint32_t>(i);
            }
        }
        for (std::size_t i = group.switches.size(); i < order.size(); ++i) {
            Entry& entry = entries[order[i]];
            bool over_nvswitch = false;
            hops.clear();
            for (const SwitchGraph::Edge& edge : graph.edges(order[i])) {
                if (entries[edge.to].distance + 1 != entry.distance) {
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
            entry.set = sets.intern(hops);
        }
        return table;
    }

    /// Links from a host to `dst` by way of its port `port`, or kUnreachable.
    std::uint32_t distance_over(PortId port, NodeId dst, const GroupTable& table) const {
        if (!graph.link_up(topology.link_of(port))) {
            return kUnreachable;
        }
        const NodeId neighbor = topology.neighbor(port);
        if (neighbor == dst) {
            return 1;
        }
        const std::uint32_t index = graph.index_of(neighbor);
        if (index == kNone || table.entries[index].distance == kUnreachable) {
            return kUnreachable;
        }
        return table.entries[index].distance + 1;
    }

    struct HostChoice {
        std::uint32_t distance = kUnreachable;
        bool over_nvswitch = false;
    };

    HostChoice choose(NodeId host, NodeId dst, const GroupTable& table) const {
        HostChoice best;
        for (PortId port = topology.first_port(host); port < topology.first_port(host + 1);
             ++port) {
            const std::uint32_t distance = distance_over(port, dst, table);
            if (distance == kUnreachable || distance > best.distance) {
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
        const GroupTable& table = table_for(dst);
        const HostChoice best = choose(host, dst, table);
        if (best.distance == kUnreachable) {
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
        std::atomic<const HostSet*>& head = host_sets[host];
        if (const HostSet* known = find_host_set(head.load(std::memory_order_acquire), chosen)) {
            return range(known->set);
        }
        const std::lock_guard<std::mutex> lock(building);
        const HostSet* newest = head.load(std::memory_order_relaxed);
        const HostSet* known = find_host_set(newest, chosen);
        if (known == nullptr) {
            known = &host_set_store.emplace_back(HostSet{sets.intern(chosen), newest});
            head.store(known, std::memory_order_release);
        }
        return range(known->set);
    }

    const HostSet* find_host_set(const HostSet* list, const std::vector<PortId>& ports) const {
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
        for (Group& group : groups) {
            if (group.owner != nullptr &&
                group.owner->entries[a].distance != group.owner->entries[b].distance) {
                group.table.store(nullptr, std::memory_order_relaxed);
                group.owner.reset();
            }
        }
    }

    const Topology& topology;
    const NextHopOrder next_hop_order;
    SwitchGraph graph;
    std::vector<std::uint32_t> live_count;  ///< by host: its live cables
    std::vector<std::uint32_t> group_of;    ///< by host
    /// From first_port(host) on: the other ends of the host's live cables, ascending.
    std::vector<PortId> far_ports;
    std::map<std::vector<std::uint32_t>, std::uint32_t> group_ids;
    std::deque<Group> groups;

    std::mutex building;  ///< guards everything below, and Group::owner
    PortSets sets;
    std::vector<std::atomic<const HostSet*>> host_sets;  ///< by host: newest first
    std::deque<HostSet> host_set_store;
    std::vector<std::uint32_t> order;  ///< work space of build()
    std::vector<PortId> hops;          ///< work space of build()
};

Routing::Routing(const Topology& topology, NextHopOrder order)
    : topology_(topology), tables_(std::make_unique<Tables>(topology, order)) {}

Routing::~Routing() = default;

Routing::PortRange Routing::next_hops(NodeId node, NodeId dst) const {
    if (node == dst || !topology_.is_host(dst)) {
        return {nullptr, nullptr};
    }
    const std::uint32_t index = tables_->graph.index_of(node);
    if (index == kNone) {
        return tables_->host_hops(node, dst);
    }
    const Entry& entry = tables_->table_for(dst).entries[index];
    if (entry.distance == 1) {
        return tables_->attached_ports(node, dst);
    }
    if (entry.set == kNone) {
        return {nullptr, nullptr};
    }
    return tables_->range(entry.set);
}

PortId Routing::select(NodeId node, const FlowKey& key) const {
    const PortRange hops = next_hops(node, key.dst);
    if (hops.size() <= 1) {
        return hops.empty() ? kNone : *hops.begin();
    }
    const std::uint32_t seed = topology_.is_host(node) ? kNicSeed : node;
    return hops.begin()[ecmp_hash(key, seed) % hops.size()];
}

int Routing::distance(NodeId node, NodeId dst) const {
    if (node == dst) {
        return 0;
    }
    if (!topology_.is_host(dst)) {
        return -1;
    }
    const GroupTable& table = tables_->table_for(dst);
    const std::uint32_t index = tables_->graph.index_of(node);
    const std::uint32_t distance =
        index == kNone ? tables_->choose(node, dst, table).distance : table.entries[index].distance;
    return distance == kUnreachable ? -1 : static_cast<int>(distance);
}

std::vector<PortId> Routing::path(const FlowKey& key) const {
    std::vector<PortId> ports;
    for (NodeId node = key.src; node != key.dst;) {
        const PortId port = select(node, key);
        if (port == kNone) {
            return {};
        }
        ports.push_back(port);
        node = topology_.neighbor(port);
    }
    return ports;
}

void Routing::prepare(NodeId dst) const {
    if (topology_.is_host(dst)) {
        tables_->table_for(dst);
    }
}

void Routing::prepare_all() const {
    for (const NodeId host : topology_.hosts()) {
        tables_->table_for(host);
    }
}

void Routing::set_link(LinkId link, bool up) {
    if (link >= topology_.links().size()) {
        throw ConfigError("no link " + std::to_string(link) + " (allowed: 0 to " +
                          std::to_string(static_cast<std::int64_t>(topology_.links().size()) - 1) +
                          ")");
    }
    if (tables_->graph.link_up(link) == up) {
        return;
    }
    const Link& cable = topology_.links()[link];
    const std::uint32_t a = tables_->graph.index_of(cable.a);
    const std::uint32_t b = tables_->graph.index_of(cable.b);
    if (a != kNone && b != kNone) {
        tables_->drop_tables_that_see(a, b);
    }
    tables_->graph.set_link(link, up);
    for (const NodeId node : {cable.a, cable.b}) {
        if (topology_.is_host(node)) {
            tables_->attach(node);
        }
    }
}

bool Routing::link_up(LinkId link) const { return tables_->graph.link_up(link); }

std::size_t Routing::memory_bytes() const {
    const Tables& t = *tables_;
    const std::lock_guard<std::mutex> lock(tables_->building);
    std::size_t bytes =
        sizeof(Tables) + t.graph.memory_bytes() + t.sets.memory_bytes() +
        (t.live_count.capacity() + t.group_of.capacity()) * sizeof(std::uint32_t) +
        t.far_ports.capacity() * sizeof(PortId) + t.host_sets.capacity() * sizeof(t.host_sets[0]) +
        t.host_set_store.size() * sizeof(HostSet) + t.order.capacity() * sizeof(std::uint32_t);
    for (const Group& group : t.groups) {
        // A group's switches are held twice: in the group and as the key of group_ids.
        bytes += sizeof(Group) + 2 * group.switches.capacity() * sizeof(std::uint32_t);
        if (group.owner != nullptr) {
            bytes += group.owner->entries.capacity() * sizeof(Entry) +
                     group.owner->rank.capacity() * sizeof(std::uint32_t);
        }
    }
    return bytes;
}

}  // namespace sluice
