// SPDX-License-Identifier: Apache-2.0
#include "models/node.h"

namespace sluice {

Node::Node(const sc_core::sc_module_name& name, NodeId id, const Context& context)
    : sc_module(name), id_(id), world_(context.world) {
    const PortId first = world_.first_port[id];
    const PortId last = world_.first_port[id + 1];
    for (PortId p = first; p < last; ++p) {
        const std::string index = std::to_string(p - first);
        ports_.emplace_back(("out" + index).c_str(), ("in" + index).c_str(), p, world_,
                            context.clock, context.backward);
    }
}

}  // namespace sluice
