// SPDX-License-Identifier: Apache-2.0
#include "core/world/flow_registry.h"

namespace sluice::step {

void FlowRegistry::number(FlowSpec& spec) {
    if (spec.id == kNoFlow && spec.src < opened_.size()) {
        spec.id = opened_flow_id(spec.src, opened_[spec.src].numbered++);
    }
}

const FlowSpec& FlowRegistry::starting(NodeId host, FlowId id) const {
    return is_listed(id) ? list_[id] : *opened_[host].waiting.find(id);
}

void FlowRegistry::forget_waiting(NodeId host, FlowId id) {
    if (!is_listed(id)) {
        opened_[host].waiting.erase(id);
    }
}

void FlowRegistry::keep_result(const World& world, FlowSlot slot) const {
    if (is_listed(world.id[slot])) {
        results_[world.id[slot]] = world.result[slot];
    }
}

const std::vector<FlowResult>& FlowRegistry::results(const World& world, std::size_t slots) const {
    for (FlowSlot slot = 0; slot < slots; ++slot) {
        keep_result(world, slot);
    }
    return results_;
}

}  // namespace sluice::step
