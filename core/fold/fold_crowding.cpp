// SPDX-License-Identifier: Apache-2.0
/// Folds at switches whose buffer could matter by what their flows may have in it (BufferLeases): they are looked
/// at now and then, and end before it does.
#include <algorithm>

#include "core/fold/folds.h"

namespace sluice::step {

/// Until when no port of the switch can hold more than what never matters: `now` if it may already.
Tick Folds::calm_until(NodeId node, Tick now) const {
    if (leases_.pauses(node)) {
        return now;
    }
    const std::int64_t frame = std::int64_t{world_.payload} + world_.data_overhead;
    Tick until = kNever;
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        const std::int64_t room =
            leases_.share() - 2 * frame - std::int64_t{world_.ingress[p].total_bytes};
        if (room <= 0) {
            return now;
        }
        const auto line_rate = static_cast<double>(world_.egress[world_.egress[p].peer].line_rate);
        const double full = static_cast<double>(room) * 8e12 / line_rate;
        until = std::min(until, now + static_cast<Tick>(full));
    }
    return until;
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

/// Of leaders and images.
std::vector<NodeId> Folds::switches_of_folds() const {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < world_.node_count; ++node) {
        bool folded = false;
        for (PortId p = world_.first_port[node];
             world_.is_host[node] == 0 && !folded && p < world_.first_port[node + 1]; ++p) {
            folded = places_.unit[p].folded() || places_.unit[world_.egress[p].peer].folded();
        }
        if (folded) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

/// Folds end at whose switches the buffer may matter in the window that begins now. An image's port holds what the
/// leader's does: if one switch could be crowded, all must be calm.
void Folds::end_crowded(Tick now) {
    if (!may_crowd_ || fold_count_ == 0 || calm_until_ > now + world_.lookahead) {
        return;
    }
    const std::vector<NodeId> nodes = switches_of_folds();
    may_crowd_ = std::any_of(nodes.begin(), nodes.end(),
                             [&](NodeId node) { return !leases_.divisible(node); });
    if (!may_crowd_) {
        return;
    }
    calm_until_ = kNever;
    std::set<std::uint32_t> crowded;
    for (const NodeId node : nodes) {
        const Tick until = calm_until(node, now);
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
