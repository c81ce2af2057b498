// SPDX-License-Identifier: Apache-2.0
/// Which partitions and which ports make up a domain.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/clocks/domains.h"

namespace sluice::step {

DomainId Domains::new_domain() {
    const DomainId domain = layout_.add_domain();
    if (domain >= domains_.size()) {
        domains_.resize(std::size_t{domain} + 1);
    }
    domains_[domain] = Domain{};
    domains_[domain].alive = true;
    ++live_domains_;
    statistics_.most_domains = std::max(statistics_.most_domains, live_domains_);
    return domain;
}

void Domains::add_partition(PartitionId id, DomainId domain) {
    if (id >= domain_of_.size()) {
        domain_of_.resize(std::size_t{id} + 1, kNone);
    }
    domain_of_[id] = domain;
    domains_[domain].partitions.push_back(id);
}

void Domains::remove_partition(PartitionId id) {
    Domain& domain = domains_[domain_of_[id]];
    domain.partitions.erase(std::find(domain.partitions.begin(), domain.partitions.end(), id));
    domain.stale = domain.stale || domain.partitions.empty();
    domain_of_[id] = kNone;
}

/// Makes one domain of two, the one with fewer cells into the other. Returns it.
DomainId Domains::merge(DomainId a, DomainId b) {
    if (a == b) {
        return a;
    }
    const bool keep_a = layout_.cell_count(a) >= layout_.cell_count(b);
    const DomainId kept = keep_a ? a : b;
    Domain& from = domains_[keep_a ? b : a];
    for (const PartitionId id : from.partitions) {
        domain_of_[id] = kept;
        domains_[kept].partitions.push_back(id);
    }
    domains_[kept].stale = domains_[kept].stale || from.stale;
    end_domain(keep_a ? b : a);
    ++statistics_.domains_merged;
    return kept;
}

/// Its cells go to whoever uses their ports, by settle().
void Domains::end_domain(DomainId domain) {
    domains_[domain] = Domain{};
    --live_domains_;
    ended_.push_back(domain);
    for (const CellId id : layout_.cells(domain)) {
        marked_.mark(layout_.cell(id).node);
    }
}

void Domains::review_stale() {
    const std::uint64_t windows = statistics_.windows_solo + statistics_.windows_joint;
    for (DomainId d = 1; d < domains_.size(); ++d) {
        Domain& domain = domains_[d];
        if (domain.alive && domain.stale && windows - domain.reviewed_at >= tuning_.review_every) {
            domain.stale = false;
            domain.reviewed_at = windows;
            if (domain.partitions.empty()) {
                end_domain(d);
            } else if (domain.partitions.size() > 1) {
                review(d);
            }
        }
    }
}

/// Divides a domain into what its partitions and the switches' buffers still hold together.
void Domains::review(DomainId domain) {
    const std::vector<PartitionId> partitions = domains_[domain].partitions;
    std::vector<Extent> extents;
    std::vector<std::size_t> root(partitions.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
        while (root[i] != i) {
            root[i] = root[root[i]];
            i = root[i];
        }
        return i;
    };
    std::vector<std::pair<NodeId, std::size_t>> at;  // (switch, partition)
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        extents.push_back(partitions_.extent(partitions[i]));
        for (const NodeId node : extents[i].switches) {
            at.emplace_back(node, i);
        }
    }
    std::sort(at.begin(), at.end());
    for (std::size_t k = 1; k < at.size(); ++k) {
        if (at[k].first == at[k - 1].first && find(at[k].second) != find(at[k - 1].second) &&
            !bounds_.divisible(at[k].first)) {
            root[find(at[k].second)] = find(at[k - 1].second);
        }
    }
    std::vector<std::size_t> ports(partitions.size(), 0);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        ports[find(i)] += extents[i].ports.size();
    }
    const auto largest =
        static_cast<std::size_t>(std::max_element(ports.begin(), ports.end()) - ports.begin());
    std::vector<DomainId> made(partitions.size(), kNone);
    domains_[domain].partitions.clear();
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        const std::size_t part = find(i);
        if (part == largest) {
            add_partition(partitions[i], domain);
            continue;
        }
        if (made[part] == kNone) {
            made[part] = new_domain();
            ++statistics_.domains_split;
        }
        add_partition(partitions[i], made[part]);
        for (const std::vector<NodeId>* nodes : {&extents[i].hosts, &extents[i].switches}) {
            std::for_each(nodes->begin(), nodes->end(),
                          [this](NodeId node) { marked_.mark(node); });
        }
    }
}

/// Makes every partition a domain of its own, but for those that settle() couples.
void Domains::divide() {
    divided_ = true;
    for (const PartitionId id : partitions_.set().partitions()) {
        add_partition(id, new_domain());
        const Extent extent = partitions_.extent(id);
        for (const std::vector<NodeId>* nodes : {&extent.hosts, &extent.switches}) {
            std::for_each(nodes->begin(), nodes->end(),
                          [this](NodeId node) { marked_.mark(node); });
        }
    }
    settle();
}

/// Makes every node whole again.
void Domains::gather() {
    if (!divided_) {
        return;
    }
    divided_ = false;
    layout_.reset();
    for (DomainId d = 1; d < domains_.size(); ++d) {
        if (domains_[d].alive) {
            layout_.remove_domain(d);
        }
        domains_[d] = Domain{};
    }
    domain_of_.clear();
    live_domains_ = 0;
}

/// Marks the nodes of a footprint that are not wholly in `domain` yet.
void Domains::mark_footprint(const Footprint& footprint, DomainId domain) {
    const Topology& topology = store_.topology();
    const auto mark_unless_there = [&](NodeId node) {
        const std::vector<CellId>& cells = layout_.cells_at(node);
        if (cells.size() > 1 || (domain != kNone && layout_.domain_of(cells.front()) != domain)) {
            marked_.mark(node);
        }
    };
    for (const ResourceId resource : footprint.resources) {
        if (!is_cable(topology, resource)) {
            mark_unless_there(resource);
        } else {
            mark_unless_there(topology.links()[cable_of(topology, resource)].a);
            mark_unless_there(topology.links()[cable_of(topology, resource)].b);
        }
    }
}

/// Gives the ports of all marked nodes to the domains that use them.
void Domains::settle() {
    while (!marked_.empty()) {
        place(marked_.take());
    }
    for (const DomainId domain : ended_) {
        layout_.remove_domain(domain);
    }
    ended_.clear();
}

void Domains::place(NodeId node) {
    const World& world = store_.world();
    const PartitionSet& set = partitions_.set();
    const PortId first = world.first_port[node];
    const std::uint32_t ports = world.first_port[node + 1] - first;
    const bool host = world.is_host[node] != 0;
    owners_.assign(ports, kNone);
    DomainId one = kNone;
    bool several = false;
    for (std::uint32_t i = 0; i < ports; ++i) {
        const PartitionId id = set.partition_of_resource(
            host ? host_resource(node)
                 : cable_resource(store_.topology(), store_.topology().link_of(first + i)));
        if (id == kNone) {
            continue;
        }
        owners_[i] = domain_of_[id];
        several = several || (one != kNone && owners_[i] != one);
        one = one == kNone ? owners_[i] : one;
    }
    if (several && !bounds_.divisible(node)) {
        ++statistics_.bound_stops;
        for (const DomainId owner : owners_) {
            if (owner != kNone && domains_[owner].alive) {
                one = merge(one, owner);
            }
        }
        marked_.mark(node);
        return;
    }
    if (one == kNone) {  // nobody's: it stays where it is, while that lives
        const DomainId now = layout_.domain_of(layout_.cells_at(node).front());
        if (domains_[now].alive && layout_.cells_at(node).size() == 1) {
            return;
        }
        one = CellLayout::kIdle;
    }
    std::replace(owners_.begin(), owners_.end(), DomainId{kNone}, one);
    if (several || layout_.cells_at(node).size() > 1 ||
        layout_.domain_of(layout_.cells_at(node).front()) != one) {
        layout_.arrange(node, owners_);
    }
    const std::vector<CellId>& cells = layout_.cells_at(node);
    if (cells.size() > 1) {
        std::int64_t total = 0;
        for (const CellId id : cells) {
            total += bounds_.bound(layout_.cell(id));
        }
        for (const CellId id : cells) {
            layout_.reserve_for_others(id, total - bounds_.bound(layout_.cell(id)));
        }
    }
}

}  // namespace sluice::step
