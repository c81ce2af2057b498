// SPDX-License-Identifier: Apache-2.0
#include "core/world/base_rtts.h"

#include <algorithm>
#include <utility>

#include "core/routing/valiant.h"

namespace sluice::step {

BaseRtts::BaseRtts(const Topology& topology, const NetworkConfig& config,
                   const std::vector<FlowPath>& paths)
    : topology_(topology), config_(config), network_(network_base_rtt(topology, base())) {
    for (const FlowPath& path : paths) {
        widen_to_path(network_, topology_, base(), path.forward);
    }
}

void BaseRtts::set_list(const std::vector<FlowSpec>& list, const std::vector<FlowPath>& paths) {
    std::vector<std::pair<NodeId, NodeId>> pairs(list.size());
    std::transform(list.begin(), list.end(), pairs.begin(),
                   [](const FlowSpec& spec) { return std::make_pair(spec.src, spec.dst); });
    listed_ = pair_base_rtts(topology_, base(), pairs);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        widen_to_path(listed_[i], topology_, base(), paths[i].forward);
    }
}

const BaseRtt& BaseRtts::add(const FlowSpec& spec) {
    const BaseRtt pair = pair_base_rtts(topology_, base(), {{spec.src, spec.dst}}).front();
    return opened_.emplace(key(spec), pair).first->second;
}

std::int64_t BaseRtts::most_in_flight(std::int64_t window) const {
    const bool several_paths =
        config_.nic.transport == Transport::selective_repeat && config_.sprayed_classes() != 0;
    const double products = several_paths ? config_.congestion.sprayed_window : 1;
    return static_cast<std::int64_t>(products * static_cast<double>(window));
}

std::int64_t BaseRtts::largest_window() const {
    if (!by_pair()) {
        return window(network_);
    }
    std::int64_t largest = 0;
    for (const BaseRtt& pair : listed_) {
        largest = std::max(largest, window(pair));
    }
    return largest;
}

}  // namespace sluice::step
