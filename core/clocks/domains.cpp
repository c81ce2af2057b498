// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/domains.h"

#include <numeric>
#include <string>

#include "core/error.h"

namespace sluice::step {

Domains::Domains(WorldStore& store, FlowPartitions& partitions, Supervisor* supervisor)
    : store_(store),
      partitions_(partitions),
      supervisor_(supervisor),
      layout_(store),
      leases_(store, layout_),
      horizon_(store, supervisor != nullptr),
      domains_(1),
      is_marked_(store.topology().node_count(), 0) {
    store_.world().track_flows = true;
    domains_[CellLayout::kIdle].alive = true;
}

Domains::~Domains() {
    // Whatever else drives the world after this finds no node split.
    layout_.reset();
}

Tick Domains::solo_until(Tick begin, Tick now, Tick cut) {
    if (one_clock_ || partitions_.set().count() == 0) {
        return 0;
    }
    const Tick from = std::max(begin, now);
    const Tick lookahead = store_.world().lookahead;
    const Tick shortest =
        from + (divided_ ? tuning_.shortest_stretch : tuning_.worth_dividing) * lookahead;
    Tick end = cut < shortest ? 0 : std::min(cut, horizon_.until(now));
    if (end < shortest) {
        return 0;
    }
    if (!divided_) {
        divide();
    }
    if (divided_switches_ > 0) {
        end = std::min(end, horizon_.first_timeout(now));
    }
    return end < from + tuning_.shortest_stretch * lookahead ? 0 : end;
}

/// What must be true when every domain has run to `end` by itself.
void Domains::check_stretch(Tick end) {
    World& world = store_.world();
    for (std::uint32_t b = 0; b < world.cell_count / 64; ++b) {
        if (world.block_wake[b] >= end) {
            continue;
        }
        const Tick* const first = world.wake + std::size_t{b} * 64;
        world.block_wake[b] = *std::min_element(first, first + 64);
        if (world.block_wake[b] < end) {
            throw InternalError("a clock was reached by a packet of another one");
        }
    }
    for (std::uint32_t i = 0; i < world.went_back.count && divided_switches_ > 0; ++i) {
        if (leases_.contains(world.went_back[i]) && leases_.bounded(world.went_back[i])) {
            throw InternalError("flow " + std::to_string(world.id[world.went_back[i]]) +
                                " sent again what its buffer leases count once");
        }
    }
    ++statistics_.stretches;
    statistics_.leased_stretches += divided_switches_ > 0 ? 1U : 0U;
}

std::size_t Domains::all_blocks() {
    const std::size_t count = store_.world().cell_count / 64;
    if (all_blocks_.size() != count) {
        all_blocks_.resize(count);
        std::iota(all_blocks_.begin(), all_blocks_.end(), 0U);
    }
    return count;
}

void Domains::check_windows() const {
    if (store_.world().misrouted) {
        throw InternalError("a packet was to leave by a port of another cell");
    }
}

void Domains::after_changes(Tick now) {
    const World& world = store_.world();
    if (leases_.drops_possible() && !drops_were_possible_ && divided_switches_ > 0) {
        for (NodeId n = 0; n < world.node_count; ++n) {
            if (layout_.cells_at(n).size() > 1) {
                mark(n);
            }
        }
    }
    drops_were_possible_ = leases_.drops_possible();
    now_ = now;
    horizon_.take_up_announced(now);
    if (divided_) {
        review_stale();
        settle();
    }
    if (divided_ && joint_in_a_row_ > tuning_.patience) {
        gather();
    }
}

// Flows come and go.

void Domains::before_entry() {
    if (supervisor_ != nullptr) {
        horizon_.forget_timeouts();
    }
}

void Domains::after_entry(FlowSlot flow, const PartitionSet::Entry& entry, bool steady_route) {
    const Footprint& footprint = partitions_.footprint_of(flow);
    leases_.add(flow, footprint, steady_route);
    if (!steady_route) {
        return;
    }
    horizon_.opened(flow, footprint, now_);
    if (!divided_) {
        return;
    }
    DomainId domain = entry.partition < domain_of_.size() ? domain_of_[entry.partition] : kNone;
    if (domain == kNone) {
        // Where a partition has just ended, the next one finds its cells in place.
        const NodeId host = store_.world().spec[flow].src;
        domain = layout_.domain_of(layout_.cells_at(host).front());
        if (domain == CellLayout::kIdle || !domains_[domain].alive ||
            !domains_[domain].partitions.empty()) {
            domain = new_domain();
        }
        add_partition(entry.partition, domain);
    }
    for (const PartitionId id : entry.absorbed) {
        const DomainId other = domain_of_[id];
        remove_partition(id);
        domain = merge(domain, other);
    }
    mark_footprint(footprint, domain);
}

void Domains::after_close(FlowSlot flow) { horizon_.closed(flow); }

void Domains::before_exit(FlowSlot flow) { leases_.remove(flow, partitions_.footprint_of(flow)); }

void Domains::after_exit(PartitionId from, const PartitionSet::Exit& exit) {
    if (!divided_) {
        return;
    }
    const DomainId domain = domain_of_[from];
    if (exit.partition == kNone) {
        remove_partition(from);
    }
    for (const PartitionId id : exit.split_off) {
        add_partition(id, domain);
    }
    domains_[domain].stale = true;
}

void Domains::unbind(FlowSlot flow) {
    const Footprint& footprint = partitions_.footprint_of(flow);
    leases_.unbind(flow, footprint);
    if (divided_) {
        mark_footprint(footprint, kNone);
    }
}

void Domains::before_links_change() { gather(); }

void Domains::after_links_change() { horizon_.forget_flows(); }

// Partitions become domains.

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
        mark(layout_.cell(id).node);
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
            !leases_.divisible(at[k].first)) {
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
            std::for_each(nodes->begin(), nodes->end(), [this](NodeId node) { mark(node); });
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
            std::for_each(nodes->begin(), nodes->end(), [this](NodeId node) { mark(node); });
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
    divided_switches_ = 0;
}

void Domains::mark(NodeId node) {
    if (is_marked_[node] == 0) {
        is_marked_[node] = 1;
        marked_.push_back(node);
    }
}

/// Marks the nodes of a footprint that are not wholly in `domain` yet.
void Domains::mark_footprint(const Footprint& footprint, DomainId domain) {
    const Topology& topology = store_.topology();
    const auto mark_unless_there = [&](NodeId node) {
        const std::vector<CellId>& cells = layout_.cells_at(node);
        if (cells.size() > 1 || (domain != kNone && layout_.domain_of(cells.front()) != domain)) {
            mark(node);
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
        const NodeId node = marked_.back();
        marked_.pop_back();
        is_marked_[node] = 0;
        place(node);
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
    if (several && !leases_.divisible(node)) {
        ++statistics_.lease_stops;
        for (const DomainId owner : owners_) {
            if (owner != kNone && domains_[owner].alive) {
                one = merge(one, owner);
            }
        }
        mark(node);
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
    const std::size_t before = layout_.cells_at(node).size();
    if (several || before > 1 || layout_.domain_of(layout_.cells_at(node).front()) != one) {
        layout_.arrange(node, owners_);
    }
    const std::vector<CellId>& cells = layout_.cells_at(node);
    divided_switches_ += (cells.size() > 1 ? 1U : 0U) - (before > 1 ? 1U : 0U);
    if (cells.size() > 1) {
        std::int64_t total = 0;
        for (const CellId id : cells) {
            total += leases_.lease(layout_.cell(id));
        }
        for (const CellId id : cells) {
            layout_.reserve_for_others(id, total - leases_.lease(layout_.cell(id)));
        }
    }
}

Tick Domains::next_cut_of(const Domain& domain) const {
    Tick at = kNever;
    if (supervisor_ != nullptr) {
        for (const PartitionId id : domain.partitions) {
            at = std::min(at, supervisor_->next_cut(id));
        }
    }
    return at;
}

void Domains::at_cut_of(const Domain& domain, Tick at) {
    for (const PartitionId id : domain.partitions) {
        if (supervisor_->next_cut(id) <= at) {
            supervisor_->at_cut(id, at);
        }
    }
}

Tick Domains::next_instant_of(DomainId domain) const {
    const World& world = store_.world();
    Tick at = kNever;
    for (const std::uint32_t block : layout_.blocks(domain)) {
        at = std::min(at, world.block_wake[block]);
    }
    return at;
}

}  // namespace sluice::step
