// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/skip_stage.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace sluice::hybrid {

std::uint32_t copy_of(const Names& names, std::uint32_t original) {
    const auto found = std::lower_bound(names.begin(), names.end(), std::make_pair(original, 0U));
    if (found == names.end() || found->first != original) {
        throw InternalError("a copy of a group has no name for what the group has");
    }
    return found->second;
}

std::int64_t skippable(const NetworkView& view, const GroupState& state, std::size_t flow) {
    const std::int64_t last = state.readings[flow].in_flight / view.payload();
    return view.unsent_packets(state.group.flows[flow]) - last - 1;
}

double time_left(const NetworkView& view, const GroupState& state) {
    double left = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < state.rate.size(); ++i) {
        const auto packets = static_cast<double>(skippable(view, state, i));
        left = std::min(left, state.rate[i] > 0 ? packets / state.rate[i] : 0);
    }
    return std::max(left, 0.0);
}

}  // namespace sluice::hybrid
