// SPDX-License-Identifier: Apache-2.0
#include "core/fold/pairing.h"

#include <algorithm>

namespace sluice::step {

bool Pairing::pair_up(const Fold& fold, const FlowGroup& leader, const FlowGroup& part,
                      Image& image) const {
    if (leader.size() != part.size()) {
        return false;
    }
    image.unit.assign(fold.unit.size(), kNone);
    image.host.assign(fold.host.size(), kNone);
    image.flow.assign(fold.flow.size(), kNone);
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (!pair_flows(leader[i], part[i], image)) {
            return false;
        }
    }
    // Two of the representative's must not have one copy.
    const auto distinct = [](std::vector<std::uint32_t> ids) {
        std::sort(ids.begin(), ids.end());
        return std::adjacent_find(ids.begin(), ids.end()) == ids.end() &&
               (ids.empty() || ids.back() != kNone);
    };
    return distinct(image.unit) && distinct(image.host);
}

bool Pairing::pair_flows(FlowSlot leader, FlowSlot other, Image& image) const {
    image.flow[folds_.of_flow(leader).index] = other;
    if (prints_.in_service(leader) != prints_.in_service(other) ||
        !pair_hosts(world_.spec[leader].src, world_.spec[other].src, image)) {
        return false;
    }
    const FlowPrint& print = prints_.of(leader);
    const FlowPrint& other_print = prints_.of(other);
    return !prints_.in_service(leader) ||
           (pair_hosts(print.dst, other_print.dst, image) && pair_units(print, other_print, image));
}

bool Pairing::pair_hosts(NodeId leader, NodeId other, Image& image) const {
    NodeId& paired = image.host[folds_.of_host(leader).index];
    if (paired != kNone || other == leader) {
        return paired == other;
    }
    const PortId first = world_.first_port[leader];
    const PortId other_first = world_.first_port[other];
    const PortId ports = world_.first_port[leader + 1] - first;
    if (folds_.of_host(other).folded() || world_.first_port[other + 1] - other_first != ports) {
        return false;
    }
    paired = other;
    for (PortId p = 0; p < ports; ++p) {
        image.unit[folds_.of_port(first + p).index] = other_first + p;
    }
    return true;
}

bool Pairing::pair_units(const FlowPrint& leader, const FlowPrint& other, Image& image) const {
    if (leader.units != other.units || leader.data != other.data) {
        return false;
    }
    for (std::uint32_t i = 0; i < leader.units; ++i) {
        PortId& paired = image.unit[folds_.of_port(leader.port[i]).index];
        if (paired == kNone && !folds_.of_port(other.port[i]).folded()) {
            paired = other.port[i];
        }
        if (paired != other.port[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice::step
