// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/clock_driver.h"

#include <numeric>
#include <string>

#include "core/error.h"

namespace sluice::step {

namespace {

template <class Visit>
void visit_packets(Ring& ring, Visit&& visit) {
    for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
        visit(ring.at(at));
    }
}

}  // namespace

ClockDriver::ClockDriver(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks,
                         FlowPartitions& partitions, Supervisor* supervisor)
    : LaneLoop(store, std::move(events), std::move(hooks)),
      partitions_(partitions),
      supervisor_(supervisor),
      layout_(store),
      leases_(store, layout_),
      horizon_(store, supervisor != nullptr),
      presence_(store.flows().size(), Presence::absent),
      stray_(store.flows().size(), 0),
      domains_(1),
      is_marked_(store.topology().node_count(), 0) {
    World& world = store_.world();
    world.track_flows = true;
    if (supervisor_ != nullptr) {
        world.callbacks.call_set_context = supervisor_;
        world.callbacks.call_set = [](void* context, NodeId host, Tick at) {
            static_cast<Supervisor*>(context)->call_set(host, at);
        };
    }
    domains_[CellLayout::kIdle].alive = true;
}

ClockDriver::~ClockDriver() {
    // Whatever else drives the lane after this finds no node split.
    layout_.reset();
}

void ClockDriver::execute_cut(Tick at) {
    if (hooks_.next_sample() == at) {
        hooks_.sample(at);
    }
    if (hooks_.next_event() == at) {
        take_up_link_events(at);
    }
    if (supervisor_ != nullptr && supervisor_->next_cut() <= now_) {
        supervisor_->at_cut(now_);
        horizon_.forget_timeouts();
    }
}

Tick ClockDriver::solo_until(Tick begin, Tick limit) {
    if (one_clock_ || strays_ > 0 || partitions_.set().count() == 0) {
        return 0;
    }
    const Tick from = std::max(begin, now_);
    const Tick lookahead = store_.world().lookahead;
    const Tick shortest =
        from + (divided_ ? tuning_.shortest_stretch : tuning_.worth_dividing) * lookahead;
    Tick end = std::min({limit, hooks_.next_event(), hooks_.next_sample()});
    if (hooks_.next_progress() > now_) {
        end = std::min(end, hooks_.next_progress());
    }
    end = end < shortest ? 0 : std::min(end, horizon_.until(now_));
    if (end < shortest) {
        return 0;
    }
    if (!divided_) {
        divide();
    }
    if (divided_switches_ > 0) {
        end = std::min(end, horizon_.first_timeout(now_));
    }
    return end < from + tuning_.shortest_stretch * lookahead ? 0 : end;
}

Tick ClockDriver::next_cut_of(const Domain& domain) const {
    Tick at = kNever;
    if (supervisor_ != nullptr) {
        for (const PartitionId id : domain.partitions) {
            at = std::min(at, supervisor_->next_cut(id));
        }
    }
    return at;
}

void ClockDriver::at_cut_of(const Domain& domain, Tick at) {
    for (const PartitionId id : domain.partitions) {
        if (supervisor_->next_cut(id) <= at) {
            supervisor_->at_cut(id, at);
        }
    }
}

Tick ClockDriver::next_instant_of(DomainId domain) const {
    const World& world = store_.world();
    Tick at = kNever;
    for (const std::uint32_t block : layout_.blocks(domain)) {
        at = std::min(at, world.block_wake[block]);
    }
    return at;
}

std::size_t ClockDriver::all_blocks() {
    const std::size_t count = store_.world().cell_count / 64;
    if (all_blocks_.size() != count) {
        all_blocks_.resize(count);
        std::iota(all_blocks_.begin(), all_blocks_.end(), 0U);
    }
    return count;
}

/// What must be true when every domain has run to `end` by itself.
void ClockDriver::check_stretch(Tick end) {
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
            throw InternalError("flow " + std::to_string(world.went_back[i]) +
                                " sent again what its buffer leases count once");
        }
    }
    ++statistics_.stretches;
    statistics_.leased_stretches += divided_switches_ > 0 ? 1U : 0U;
}

// Flows come and go.

void ClockDriver::take_up_changes() {
    World& world = store_.world();
    if (world.misrouted) {
        throw InternalError("a packet was to leave by a port of another cell");
    }
    if (world.changed.count > 0) {
        // In order of time, however time was cut into windows.
        std::vector<FlowSlot> changed(world.changed.data, world.changed.data + world.changed.count);
        world.changed.count = 0;
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        changes_.clear();
        for (const FlowSlot flow : changed) {
            const FlowResult& result = store_.results()[flow];
            if (presence_[flow] != Presence::open) {
                changes_.emplace_back(result.start, false, flow);
            }
            if (result.finish != kNever) {
                changes_.emplace_back(result.finish, true, flow);
            }
        }
        std::sort(changes_.begin(), changes_.end());
        for (const auto& [at, closed, flow] : changes_) {
            if (closed) {
                close(flow, at);
            } else if (presence_[flow] == Presence::absent) {
                enter(flow, at);
            }
        }
    }
    for (std::uint32_t i = 0; i < world.went_back.count; ++i) {
        const FlowSlot flow = world.went_back[i];
        if (presence_[flow] != Presence::absent) {
            leases_.unbind(flow, partitions_.footprint_of(flow));
            mark_footprint(partitions_.footprint_of(flow), kNone);
        }
    }
    world.went_back.count = 0;
    if (now_ >= next_search_ && !outside_) {
        search_lingering();
    }
    if (leases_.drops_possible() && !drops_were_possible_ && divided_switches_ > 0) {
        for (NodeId n = 0; n < world.node_count; ++n) {
            if (layout_.cells_at(n).size() > 1) {
                mark(n);
            }
        }
    }
    drops_were_possible_ = leases_.drops_possible();
    horizon_.take_up_announced(now_);
    if (divided_) {
        review_stale();
        settle();
    }
    if (divided_ && joint_in_a_row_ > tuning_.patience) {
        gather();
    }
}

/// None of the packets of a flow that has closed can be left: each was sent once, and they arrived
/// in the order in which they were sent.
bool ClockDriver::kept_order(FlowSlot flow) const {
    return stray_[flow] == 0 && store_.results()[flow].retransmitted == 0 &&
           !partitions_.footprint_of(flow).data.empty();
}

void ClockDriver::close(FlowSlot flow, Tick at) {
    horizon_.closed(flow);
    if (kept_order(flow)) {
        leave(flow, at);
        return;
    }
    presence_[flow] = Presence::lingering;
    lingering_.push_back(flow);
    if (supervisor_ != nullptr) {
        supervisor_->after_close(flow, partitions_.set().partition_of(flow), at);
    }
    next_search_ = std::min(next_search_, now_ + store_.world().base_rtt);
}

void ClockDriver::enter(FlowSlot flow, Tick at) {
    Footprint print = partitions_.footprint(flow);
    if (supervisor_ != nullptr) {
        supervisor_->before_entry(flow, partitions_.touched(print.resources), at);
        horizon_.forget_timeouts();
    }
    const PartitionSet::Entry entry = partitions_.enter(flow, std::move(print));
    const Footprint& footprint = partitions_.footprint_of(flow);
    presence_[flow] = Presence::open;
    leases_.add(flow, footprint, true);
    horizon_.opened(flow, footprint, now_);
    ++statistics_.entries;
    statistics_.merges += entry.absorbed.size();
    if (divided_) {
        DomainId domain = entry.partition < domain_of_.size() ? domain_of_[entry.partition] : kNone;
        if (domain == kNone) {
            // Where a partition has just ended, the next one finds its cells in place.
            const NodeId host = store_.flows()[flow].src;
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
    if (supervisor_ != nullptr) {
        supervisor_->after_entry(flow, entry, at);
    }
}

void ClockDriver::leave(FlowSlot flow, Tick at) {
    if (flow == holder_) {
        holder_ = kNone;
        for (FlowSlot other = 0; other < stray_.size() && holder_ == kNone; ++other) {
            if (stray_[other] != 0 && other != flow) {
                hold_everything(other);
            }
        }
    }
    leases_.remove(flow, partitions_.footprint_of(flow));
    const PartitionId from = partitions_.set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_.leave(flow);
    presence_[flow] = Presence::absent;
    ++statistics_.exits;
    statistics_.splits += exit.split_off.size();
    if (divided_) {
        const DomainId domain = domain_of_[from];
        if (exit.partition == kNone) {
            remove_partition(from);
        }
        for (const PartitionId id : exit.split_off) {
            add_partition(id, domain);
        }
        domains_[domain].stale = true;
    }
    if (supervisor_ != nullptr) {
        supervisor_->after_exit(flow, from, exit, at);
    }
    if (stray_[flow] != 0) {
        stray_[flow] = 0;
        --strays_;
    }
}

/// Looks for packets of flows that have closed, and lets those leave that have none.
void ClockDriver::search_lingering() {
    ++statistics_.searches;
    World& world = store_.world();
    std::vector<std::uint8_t> found(presence_.size(), 0);
    const auto visit = [&](const Packet& packet) {
        if (packet.packet_kind() < PacketKind::pause) {
            found[packet.flow] = 1;
        }
    };
    for (PortId p = 0; p < store_.topology().port_count(); ++p) {
        visit_packets(world.link[p], visit);
        for (Ring& queue : world.egress[p].queue) {
            visit_packets(queue, visit);
        }
    }
    std::vector<FlowSlot> gone;
    const auto first_gone = std::stable_partition(
        lingering_.begin(), lingering_.end(),
        [&](FlowSlot flow) { return found[flow] != 0 || presence_[flow] != Presence::lingering; });
    gone.assign(first_gone, lingering_.end());
    lingering_.erase(first_gone, lingering_.end());
    std::sort(gone.begin(), gone.end());
    std::for_each(gone.begin(), gone.end(), [this](FlowSlot flow) { leave(flow, now_); });
    next_search_ = lingering_.empty() ? kNever : now_ + 8 * world.base_rtt;
}

void ClockDriver::take_up_link_events(Tick at) {
    if (supervisor_ != nullptr) {
        supervisor_->before_link_event(at);
    }
    gather();
    hooks_.run_events(at);
    horizon_.forget_flows();
    for (FlowSlot flow = 0; flow < presence_.size(); ++flow) {
        if (presence_[flow] == Presence::absent) {
            continue;
        }
        strays_ += stray_[flow] == 0 ? 1 : 0;
        stray_[flow] = 1;
        leases_.unbind(flow, partitions_.footprint_of(flow));
        if (flow == holder_ || holder_ == kNone) {
            hold_everything(flow);
            continue;
        }
        Footprint print = partitions_.footprint(flow);
        if (print.resources != partitions_.footprint_of(flow).resources) {
            change_footprint(flow, std::move(print));
        }
    }
}

/// As long as packets may be on ways that no footprint tells, one flow stands for all of them.
void ClockDriver::hold_everything(FlowSlot flow) {
    holder_ = flow;
    Footprint print = partitions_.footprint(flow);
    print.resources.assign(store_.topology().hosts().begin(), store_.topology().hosts().end());
    const auto nodes = static_cast<ResourceId>(store_.topology().node_count());
    for (LinkId link = 0; link < store_.topology().links().size(); ++link) {
        print.resources.push_back(nodes + link);
    }
    change_footprint(flow, std::move(print));
}

/// Of a flow under which links have changed.
void ClockDriver::change_footprint(FlowSlot flow, Footprint print) {
    leases_.remove(flow, partitions_.footprint_of(flow));
    const PartitionId from = partitions_.set().partition_of(flow);
    const PartitionSet::Exit exit = partitions_.leave(flow);
    if (supervisor_ != nullptr) {
        supervisor_->after_exit(flow, from, exit, now_);
        supervisor_->before_entry(flow, partitions_.touched(print.resources), now_);
    }
    const PartitionSet::Entry entry = partitions_.enter(flow, std::move(print));
    leases_.add(flow, partitions_.footprint_of(flow), false);
    if (supervisor_ != nullptr) {
        supervisor_->after_entry(flow, entry, now_);
    }
}

void ClockDriver::before_packet_from_outside(const Packet& packet) {
    if (packet.packet_kind() < PacketKind::pause && presence_[packet.flow] == Presence::absent) {
        enter(packet.flow, now_);  // of a sender that is not ours, or a duplicate of long ago
    } else if (supervisor_ != nullptr) {
        supervisor_->before_link_event(now_);  // it was not to be foreseen: nobody may be skipping
    }
}

// Partitions become domains.

ResourceId ClockDriver::cable_of(PortId port) const {
    return static_cast<ResourceId>(store_.topology().node_count()) +
           store_.topology().link_of(port);
}

DomainId ClockDriver::new_domain() {
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

void ClockDriver::add_partition(PartitionId id, DomainId domain) {
    if (id >= domain_of_.size()) {
        domain_of_.resize(std::size_t{id} + 1, kNone);
    }
    domain_of_[id] = domain;
    domains_[domain].partitions.push_back(id);
}

void ClockDriver::remove_partition(PartitionId id) {
    Domain& domain = domains_[domain_of_[id]];
    domain.partitions.erase(std::find(domain.partitions.begin(), domain.partitions.end(), id));
    domain.stale = domain.stale || domain.partitions.empty();
    domain_of_[id] = kNone;
}

/// Makes one domain of two, the one with fewer cells into the other. Returns it.
DomainId ClockDriver::merge(DomainId a, DomainId b) {
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
void ClockDriver::end_domain(DomainId domain) {
    domains_[domain] = Domain{};
    --live_domains_;
    ended_.push_back(domain);
    for (const CellId id : layout_.cells(domain)) {
        mark(layout_.cell(id).node);
    }
}

void ClockDriver::review_stale() {
    for (DomainId d = 1; d < domains_.size(); ++d) {
        Domain& domain = domains_[d];
        if (domain.alive && domain.stale &&
            windows() - domain.reviewed_at >= tuning_.review_every) {
            domain.stale = false;
            domain.reviewed_at = windows();
            if (domain.partitions.empty()) {
                end_domain(d);
            } else if (domain.partitions.size() > 1) {
                review(d);
            }
        }
    }
}

/// Divides a domain into what its partitions and the switches' buffers still hold together.
void ClockDriver::review(DomainId domain) {
    const std::vector<PartitionId> partitions = domains_[domain].partitions;
    std::vector<FlowPartitions::Extent> extents;
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
void ClockDriver::divide() {
    divided_ = true;
    for (const PartitionId id : partitions_.set().partitions()) {
        add_partition(id, new_domain());
        const FlowPartitions::Extent extent = partitions_.extent(id);
        for (const std::vector<NodeId>* nodes : {&extent.hosts, &extent.switches}) {
            std::for_each(nodes->begin(), nodes->end(), [this](NodeId node) { mark(node); });
        }
    }
    settle();
}

/// Makes every node whole again.
void ClockDriver::gather() {
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

void ClockDriver::mark(NodeId node) {
    if (is_marked_[node] == 0) {
        is_marked_[node] = 1;
        marked_.push_back(node);
    }
}

/// Marks the nodes of a footprint that are not wholly in `domain` yet.
void ClockDriver::mark_footprint(const Footprint& footprint, DomainId domain) {
    const Topology& topology = store_.topology();
    const auto nodes = static_cast<ResourceId>(topology.node_count());
    const auto mark_unless_there = [&](NodeId node) {
        const std::vector<CellId>& cells = layout_.cells_at(node);
        if (cells.size() > 1 || (domain != kNone && layout_.domain_of(cells.front()) != domain)) {
            mark(node);
        }
    };
    for (const ResourceId resource : footprint.resources) {
        if (resource < nodes) {
            mark_unless_there(resource);
        } else {
            mark_unless_there(topology.links()[resource - nodes].a);
            mark_unless_there(topology.links()[resource - nodes].b);
        }
    }
}

/// Gives the ports of all marked nodes to the domains that use them.
void ClockDriver::settle() {
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

void ClockDriver::place(NodeId node) {
    const World& world = store_.world();
    const PartitionSet& set = partitions_.set();
    const PortId first = world.first_port[node];
    const std::uint32_t ports = world.first_port[node + 1] - first;
    const bool host = world.is_host[node] != 0;
    owners_.assign(ports, kNone);
    DomainId one = kNone;
    bool several = false;
    for (std::uint32_t i = 0; i < ports; ++i) {
        const PartitionId id = set.partition_of_resource(host ? node : cable_of(first + i));
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

}  // namespace sluice::step
