// SPDX-License-Identifier: Apache-2.0
#include "core/world/flow_routes.h"

#include <algorithm>

namespace sluice::step {

void FlowRoutes::renew(std::size_t slots) {
    ++epoch_;
    world_.any_link_down = std::any_of(world_.egress, world_.egress + topology_.port_count(),
                                       [](const Egress& egress) { return !egress.up; });
    for (FlowSlot slot = 0; slot < slots; ++slot) {
        if (world_.id[slot] != kNoFlow && world_.result[slot].finish == kNever) {
            set(slot);
        }
    }
}

void FlowRoutes::set(FlowSlot slot) {
    FlowRoute& route = world_.route[slot];
    const FlowSpec& spec = world_.spec[slot];
    if (spec.connection == kNone || world_.id[slot] < paths_.size() || is_sprayed(world_, slot)) {
        find(slot);
    } else {
        KnownRoute& known = known_[spec.connection];
        if (known.epoch == epoch_ && known.src == spec.src && known.dst == spec.dst &&
            known.sport == spec.sport && known.dport == spec.dport) {
            std::copy_n(known.route.port, 2 * kPathHops, route.port);
        } else {
            find(slot);
            known = {route, spec.src, spec.dst, epoch_, spec.sport, spec.dport};
        }
    }
    if (world_.result[slot].start == kNever) {
        route.ints = IntBlock{};
    }
}

void FlowRoutes::find(FlowSlot slot) {
    const FlowSpec& spec = world_.spec[slot];
    FlowRoute& route = world_.route[slot];
    const bool sprayed = is_sprayed(world_, slot);
    const auto fill = [&](PortId* entries, const std::vector<PortId>& given, const FlowKey& key) {
        std::fill(entries, entries + kPathHops, kNone);
        const bool usable =
            !sprayed && !given.empty() &&
            std::all_of(given.begin(), given.end(), [&](PortId p) { return world_.egress[p].up; });
        const std::vector<PortId> ports = usable ? given : routing_.path(key);
        std::copy_n(ports.begin(), std::min<std::size_t>(ports.size(), kPathHops), entries);
        for (int hop = 1; sprayed && hop < kPathHops; ++hop) {
            if (entries[hop] != kNone &&
                routing_.next_hops(topology_.node_of(entries[hop]), key.dst).size() > 1) {
                entries[hop] = kNone;  // each packet chooses
            }
        }
    };
    static const FlowPath kNoPath;
    const bool listed = world_.id[slot] < paths_.size();
    const FlowPath& path = listed ? paths_[world_.id[slot]] : kNoPath;
    fill(route.port, path.forward, data_key(spec));
    fill(route.port + kPathHops, path.reverse, ack_key(spec));
}

}  // namespace sluice::step
