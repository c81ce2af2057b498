// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/outside.h"

#include <algorithm>

namespace sluice::hybrid {

bool is_live(const NetworkView& view, NodeId node) {
    return view.outside() != nullptr && view.outside()->is_live(node);
}

bool passes_outside(const NetworkView& view, const Group& group) {
    const auto is_own = [&](PortId port) { return view.outside()->is_own(view.node_of(port)); };
    return view.outside() != nullptr &&
           std::any_of(group.flows.begin(), group.flows.end(), [&](FlowSlot flow) {
               const step::Footprint& way = view.tracks(flow);
               return std::any_of(way.data.begin(), way.data.end(), is_own) ||
                      std::any_of(way.acks.begin(), way.acks.end(), is_own);
           });
}

}  // namespace sluice::hybrid
