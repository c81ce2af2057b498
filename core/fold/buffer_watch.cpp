// SPDX-License-Identifier: Apache-2.0
#include "core/fold/buffer_watch.h"

#include <algorithm>

#include "core/sorted.h"

namespace sluice::step {

BufferWatch::BufferWatch(const WorldStore& store, const FoldTable& folds, const FlowPrints& prints)
    : topology_(store.topology()),
      world_(store.world()),
      folds_(folds),
      prints_(prints),
      leases_(store),
      if_empty_(times_if_empty()),
      times_(if_empty_) {}

void BufferWatch::enter(FlowSlot flow, const FlowPrint& print) {
    leases_.add(flow, footprint(print), print.whole);
}

void BufferWatch::leave(FlowSlot flow, const FlowPrint& print) {
    leases_.remove(flow, footprint(print));
}

/// Good until the next call.
const Footprint& BufferWatch::footprint(const FlowPrint& print) {
    footprint_.data.assign(print.port, print.port + print.data);
    footprint_.acks.assign(print.port + print.data, print.port + print.units);
    return footprint_;
}

/// How long it takes at least until a switch's port that has taken in so much holds more than what never matters.
Tick BufferWatch::independent_for(PortId in, std::int64_t bytes) const {
    const std::int64_t frame = std::int64_t{world_.payload} + world_.data_overhead;
    const std::int64_t room = leases_.share() - 2 * frame * world_.train - bytes;
    const auto line_rate = static_cast<double>(world_.egress[world_.egress[in].peer].line_rate);
    return room <= 0 ? 0 : static_cast<Tick>(static_cast<double>(room) * 8e12 / line_rate);
}

Tick BufferWatch::independent_for(PortId in) const {
    return leases_.pauses_at(in) ? 0 : independent_for(in, world_.ingress[in].total_bytes);
}

/// By node: the same of a switch that is empty.
std::vector<Tick> BufferWatch::times_if_empty() const {
    std::vector<Tick> times(world_.node_count, kNever);
    for (NodeId node = 0; node < world_.node_count; ++node) {
        for (PortId p = world_.first_port[node];
             world_.is_host[node] == 0 && p < world_.first_port[node + 1]; ++p) {
            times[node] = std::min(times[node], independent_for(p, 0));
        }
    }
    return times;
}

/// Until when no port of the switch can hold more than what never matters: `now` if it may already. What no flow in
/// service goes by is empty, for nothing is folded while packets go other ways.
Tick BufferWatch::independent_until(NodeId node, Tick now) const {
    Tick time = if_empty_[node];
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        if (prints_.at_port(world_.egress[p].peer) > 0) {
            time = std::min(time, independent_for(p));
        }
    }
    return now + time;
}

bool BufferWatch::stays_independent(NodeId node, Tick now) {
    if (leases_.divisible(node)) {
        return true;
    }
    may_crowd_ = true;
    look_again();
    return independent_until(node, now) > now + world_.lookahead;
}

void BufferWatch::begin_comparison() { answers_.assign(world_.node_count, Answer::unknown); }

bool BufferWatch::is_independent(NodeId node, Tick now) {
    Answer& known = answers_[node];
    if (known == Answer::unknown) {
        known = stays_independent(node, now) ? Answer::independent : Answer::dependent;
    }
    return known == Answer::independent;
}

void BufferWatch::add_dependent(const FlowGroup& entered, Tick now,
                                std::set<std::uint32_t>& folds) {
    std::vector<NodeId> nodes;
    for (const FlowSlot flow : entered) {
        const FlowPrint& print = prints_.of(flow);
        for (std::uint32_t i = 0; i < print.units; ++i) {
            const NodeId node = topology_.node_of(print.port[i]);
            if (world_.is_host[node] == 0 && (nodes.empty() || nodes.back() != node)) {
                nodes.push_back(node);
            }
        }
    }
    sort_unique(nodes);
    for (const NodeId node : nodes) {
        if (!stays_independent(node, now)) {
            add_folds_at(node, folds);
        }
    }
}

void BufferWatch::add_folds_at(NodeId node, std::set<std::uint32_t>& folds) const {
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        for (const PortId port : {p, world_.egress[p].peer}) {
            if (folds_.of_port(port).folded()) {
                folds.insert(folds_.of_port(port).fold);
            }
        }
    }
}

/// Switches of representatives and copies, and where packets may come in at any: by what is in use and executed.
void BufferWatch::list_entrances() {
    const std::uint64_t generation = folds_.generation() + prints_.generation();
    if (listed_ == generation) {
        return;
    }
    listed_ = generation;
    switches_.clear();
    entrances_.clear();
    for (PortId p = 0; p < topology_.port_count(); ++p) {
        const FoldPlace& place = folds_.of_port(p);
        const PortId in = world_.egress[p].peer;
        if (prints_.at_port(p) > 0 && (!place.folded() || place.leads()) &&
            world_.is_host[topology_.node_of(in)] == 0) {
            entrances_.push_back(in);
        }
    }
    for (NodeId node = 0; node < world_.node_count; ++node) {
        bool folded = false;
        for (PortId p = world_.first_port[node];
             world_.is_host[node] == 0 && !folded && p < world_.first_port[node + 1]; ++p) {
            folded = folds_.of_port(p).folded() || folds_.of_port(world_.egress[p].peer).folded();
        }
        if (folded) {
            switches_.push_back(node);
        }
    }
}

/// A copy's port holds what the representative's does: if one switch could be crowded, all must be independent.
std::set<std::uint32_t> BufferWatch::crowded_folds(Tick now) {
    std::set<std::uint32_t> crowded;
    if (!may_crowd_ || folds_.empty() || independent_until_ > now + world_.lookahead) {
        return crowded;
    }
    list_entrances();
    may_crowd_ = std::any_of(switches_.begin(), switches_.end(),
                             [&](NodeId node) { return !leases_.divisible(node); });
    if (!may_crowd_) {
        return crowded;
    }
    for (const NodeId node : switches_) {
        times_[node] = if_empty_[node];
    }
    for (const PortId in : entrances_) {
        Tick& time = times_[topology_.node_of(in)];
        time = std::min(time, independent_for(in));
    }
    independent_until_ = kNever;
    for (const NodeId node : switches_) {
        const Tick until = now + times_[node];
        if (until > now + world_.lookahead) {
            independent_until_ = std::min(independent_until_, until);
        } else {
            add_folds_at(node, crowded);
        }
    }
    return crowded;
}

}  // namespace sluice::step
