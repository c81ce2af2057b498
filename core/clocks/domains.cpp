// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/domains.h"

#include <numeric>
#include <string>

#include "core/error.h"

namespace sluice::step {

Domains::Domains(WorldStore& store, FlowPartitions& partitions)
    : store_(store),
      partitions_(partitions),
      layout_(store),
      bounds_(store),
      horizon_(store),
      domains_(1),
      marked_(store.topology().node_count()) {
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
    if (layout_.divided_nodes() > 0) {
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
    for (std::uint32_t i = 0; i < world.went_back.count && layout_.divided_nodes() > 0; ++i) {
        if (bounds_.contains(world.went_back[i]) && bounds_.bounded(world.went_back[i])) {
            throw InternalError("flow " + std::to_string(world.id[world.went_back[i]]) +
                                " sent again what its occupancy bound counts once");
        }
    }
    ++statistics_.stretches;
    statistics_.bounded_stretches += layout_.divided_nodes() > 0 ? 1U : 0U;
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
    if (bounds_.drops_possible() && !drops_were_possible_ && layout_.divided_nodes() > 0) {
        for (NodeId n = 0; n < world.node_count; ++n) {
            if (layout_.cells_at(n).size() > 1) {
                marked_.mark(n);
            }
        }
    }
    drops_were_possible_ = bounds_.drops_possible();
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

void Domains::after_entry(FlowSlot flow, const PartitionSet::Entry& entry, bool steady_route) {
    const Footprint& footprint = partitions_.footprint_of(flow);
    bounds_.add(flow, footprint, steady_route);
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

void Domains::before_exit(FlowSlot flow) { bounds_.remove(flow, partitions_.footprint_of(flow)); }

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
    bounds_.unbind(flow, footprint);
    if (divided_) {
        mark_footprint(footprint, kNone);
    }
}

void Domains::before_links_change() { gather(); }

void Domains::after_links_change() { horizon_.forget_flows(); }

Tick Domains::next_instant_of(DomainId domain) const {
    const World& world = store_.world();
    Tick at = kNever;
    for (const std::uint32_t block : layout_.blocks(domain)) {
        at = std::min(at, world.block_wake[block]);
    }
    return at;
}

}  // namespace sluice::step
