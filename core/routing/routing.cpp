// SPDX-License-Identifier: Apache-2.0
#include "core/routing/routing.h"

#include <mutex>
#include <string>

#include "core/error.h"
#include "core/routing/routing_tables.h"

namespace sluice {

using routing::Entry;
using routing::Group;
using routing::HostSet;
using routing::kUnreachable;

Routing::Routing(const Topology& topology, NextHopOrder order, std::size_t table_bytes)
    : topology_(topology), tables_(std::make_unique<Tables>(topology, order, table_bytes)) {}

Routing::~Routing() = default;

Routing::PortRange Routing::next_hops(NodeId node, NodeId dst) const {
    if (node == dst || !topology_.is_host(dst)) {
        return {nullptr, nullptr};
    }
    const std::uint32_t index = tables_->graph.index_of(node);
    if (index == kNone) {
        return tables_->host_hops(node, dst);
    }
    if (tables_->graph.is_lone(index)) {
        return tables_->attached_ports(node, dst);
    }
    const Entry entry = tables_->table_for(dst)->entries[index];
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
    const bool host = topology_.is_host(node);
    if (host && key.nic_port != kAnyPort) {
        return hops.begin()[key.nic_port % hops.size()];
    }
    const std::uint32_t seed = host ? kNicSeed : node;
    return hops.begin()[ecmp_hash(key, seed) % hops.size()];
}

int Routing::distance(NodeId node, NodeId dst) const {
    if (node == dst) {
        return 0;
    }
    if (!topology_.is_host(dst)) {
        return -1;
    }
    const Tables::TablePointer table = tables_->table_for(dst);
    const std::uint32_t index = tables_->graph.index_of(node);
    const std::uint32_t distance = index == kNone
                                       ? tables_->choose(node, dst, *table).distance
                                       : tables_->switch_distance(index, node, dst, *table);
    return distance == kUnreachable ? -1 : static_cast<int>(tables_->links(distance));
}

std::vector<PortId> Routing::path(const FlowKey& key) const {
    std::vector<PortId> ports;
    ports.reserve(8);  // most ways are shorter
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

std::uint32_t Routing::group(NodeId host) const { return tables_->group_of[host]; }

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
        (t.zone.capacity() + t.live_count.capacity() + t.group_of.capacity()) *
            sizeof(std::uint32_t) +
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
