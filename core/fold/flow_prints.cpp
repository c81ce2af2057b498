// SPDX-License-Identifier: Apache-2.0
#include "core/fold/flow_prints.h"

namespace sluice::step {

FlowPrints::FlowPrints(const WorldStore& store, bool cables_join)
    : store_(store),
      world_(store.world()),
      cables_join_(cables_join),
      port_uses_(store.topology().port_count(), 0),
      host_uses_(world_.node_count, 0) {}

void FlowPrints::enter(FlowSlot flow) {
    if (prints_.size() < store_.slot_count()) {
        prints_.resize(store_.slot_count());
    }
    prints_[flow] = trace(flow);
    use(prints_[flow], 1U);
    unknown_ += prints_[flow].whole ? 0 : 1;
}

void FlowPrints::leave(FlowSlot flow) {
    use(prints_[flow], ~0U);
    unknown_ -= prints_[flow].whole ? 0 : 1;
    prints_[flow] = FlowPrint{};
}

void FlowPrints::use(const FlowPrint& print, std::uint32_t more) {
    ++generation_;
    for (std::uint32_t i = 0; i < print.units; ++i) {
        port_uses_[print.port[i]] += more;
    }
    host_uses_[print.src] += more;
    host_uses_[print.dst] += more;
}

/// Whether a table leads by `port` to `to`, and by no other: there a sprayed flow has no choice.
bool FlowPrints::only_way(NodeId node, PortId port, NodeId to) const {
    const Routing::PortRange ports = store_.routing().next_hops(node, to);
    return ports.size() == 1 && *ports.begin() == port;
}

FlowPrint FlowPrints::trace(FlowSlot flow) const {
    const FlowSpec& spec = world_.spec[flow];
    const FlowRoute& route = world_.route[flow];
    FlowPrint print;
    print.src = spec.src;
    print.dst = spec.dst;
    print.whole = !cables_join_ || !is_sprayed(world_, flow);  // partitions know of no sprayed flow
    const auto walk = [&](const PortId* entries, NodeId from, NodeId to) {
        NodeId node = from;
        for (int hop = 0; node != to; ++hop) {
            const PortId port = hop < kPathHops ? entries[hop] : kNone;
            if (port == kNone || store_.topology().node_of(port) != node ||
                (is_sprayed(world_, flow) && !only_way(node, port, to))) {
                print.whole = false;
                return;
            }
            print.port[print.units++] = port;
            node = store_.topology().neighbor(port);
        }
    };
    walk(route.port, spec.src, spec.dst);
    print.data = print.units;
    walk(route.port + kPathHops, spec.dst, spec.src);
    return print;
}

PortId FlowPrints::used_other_way(PortId port) const {
    const PortId back = world_.egress[port].peer;
    return cables_join_ && back != kNone && port_uses_[back] > 0 ? back : PortId{kNone};
}

}  // namespace sluice::step
