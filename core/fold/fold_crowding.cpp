// SPDX-License-Identifier: Apache-2.0
/// Folds at switches whose buffer could matter by what their flows may have in it (OccupancyBounds): they are looked
/// at now and then, and end before it does.
#include <algorithm>

#include "core/fold/folds.h"

namespace sluice::step {

/// How long it takes at least until a switch's port that has taken in so much holds more than what never matters.
Tick Folds::calm_for(PortId in, std::int64_t bytes) const {
    const std::int64_t frame = std::int64_t{world_.payload} + world_.data_overhead;
    const std::int64_t room = leases_.share() - 2 * frame - bytes;
    const auto line_rate = static_cast<double>(world_.egress[world_.egress[in].peer].line_rate);
    return room <= 0 ? 0 : static_cast<Tick>(static_cast<double>(room) * 8e12 / line_rate);
}

Tick Folds::calm_for(PortId in) const {
    return leases_.pauses_at(in) ? 0 : calm_for(in, world_.ingress[in].total_bytes);
}

/// By node: the same of a switch that is empty.
std::vector<Tick> Folds::calm_if_empty() const {
    std::vector<Tick> times(world_.node_count, kNever);
    for (NodeId node = 0; node < world_.node_count; ++node) {
        for (PortId p = world_.first_port[node];
             world_.is_host[node] == 0 && p < world_.first_port[node + 1]; ++p) {
            times[node] = std::min(times[node], calm_for(p, 0));
        }
    }
    return times;
}

/// Until when no port of the switch can hold more than what never matters: `now` if it may already. What no flow in
/// service goes by is empty, for nothing is folded while packets go other ways.
Tick Folds::calm_until(NodeId node, Tick now) const {
    Tick time = empty_calm_for_[node];
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        if (unit_uses_[world_.egress[p].peer] > 0) {
            time = std::min(time, calm_for(p));
        }
    }
    return now + time;
}

/// Whether nothing that happens at the switch in the window that begins now depends on its buffer.
bool Folds::stays_calm(NodeId node, Tick now) {
    if (leases_.divisible(node)) {
        return true;
    }
    may_crowd_ = true;
    calm_until_ = 0;
    return calm_until(node, now) > now + world_.lookahead;
}

void Folds::add_folds_at(NodeId node, std::set<std::uint32_t>& folds) const {
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        for (const PortId port : {p, world_.egress[p].peer}) {
            if (places_.unit[port].folded()) {
                folds.insert(places_.unit[port].fold);
            }
        }
    }
}

/// Switches of leaders and images, and where packets may come in at any: by what is in use and executed.
void Folds::list_entrances() {
    if (entrances_listed_) {
        return;
    }
    entrances_listed_ = true;
    switches_of_folds_.clear();
    entrances_.clear();
    for (PortId p = 0; p < unit_uses_.size(); ++p) {
        const FoldPlace& place = places_.unit[p];
        const PortId in = world_.egress[p].peer;
        if (unit_uses_[p] > 0 && (!place.folded() || place.leads()) &&
            world_.is_host[store_.topology().node_of(in)] == 0) {
            entrances_.push_back(in);
        }
    }
    for (NodeId node = 0; node < world_.node_count; ++node) {
        bool folded = false;
        for (PortId p = world_.first_port[node];
             world_.is_host[node] == 0 && !folded && p < world_.first_port[node + 1]; ++p) {
            folded = places_.unit[p].folded() || places_.unit[world_.egress[p].peer].folded();
        }
        if (folded) {
            switches_of_folds_.push_back(node);
        }
    }
}

/// Folds end at whose switches the buffer may matter in the window that begins now. An image's port holds what the
/// leader's does: if one switch could be crowded, all must be calm.
void Folds::end_crowded(Tick now) {
    if (!may_crowd_ || fold_count_ == 0 || calm_until_ > now + world_.lookahead) {
        return;
    }
    list_entrances();
    may_crowd_ = std::any_of(switches_of_folds_.begin(), switches_of_folds_.end(),
                             [&](NodeId node) { return !leases_.divisible(node); });
    if (!may_crowd_) {
        return;
    }
    for (const NodeId node : switches_of_folds_) {
        calm_for_[node] = empty_calm_for_[node];
    }
    for (const PortId in : entrances_) {
        Tick& time = calm_for_[store_.topology().node_of(in)];
        time = std::min(time, calm_for(in));
    }
    calm_until_ = kNever;
    std::set<std::uint32_t> crowded;
    for (const NodeId node : switches_of_folds_) {
        const Tick until = now + calm_for_[node];
        if (until > now + world_.lookahead) {
            calm_until_ = std::min(calm_until_, until);
        } else {
            add_folds_at(node, crowded);
        }
    }
    for (const std::uint32_t fold : crowded) {
        if (folds_[fold] != nullptr) {
            take_apart(fold);
        }
    }
}

}  // namespace sluice::step
