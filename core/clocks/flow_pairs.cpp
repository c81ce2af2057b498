// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/flow_pairs.h"

#include <algorithm>

namespace sluice::step {

Names PortNames::of(const FlowPartitions& partitions, const FlowPairs& pairs) {
    Names ports;
    const auto pair_up = [&](const std::vector<PortId>& leader, const std::vector<PortId>& image) {
        for (std::size_t i = 0; i < std::min(leader.size(), image.size()); ++i) {
            if (copy_of_.size() <= leader[i]) {
                copy_of_.resize(leader[i] + 1, kNone);
            }
            if (copy_of_[leader[i]] == kNone) {
                ports.emplace_back(leader[i], kNone);
            }
            copy_of_[leader[i]] = image[i];
        }
    };
    // Ways lie scattered in memory.
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const FlowPair& pair = pairs[i];
        if (i + kAhead < pairs.size()) {
            const Footprint& way = partitions.footprint_of(pairs[i + kAhead].image);
            SLUICE_PREFETCH(way.data.data());
            SLUICE_PREFETCH(way.acks.data());
        }
        if (partitions.contains(pair.leader) && partitions.contains(pair.image)) {
            const Footprint& leader = partitions.footprint_of(pair.leader);
            const Footprint& image = partitions.footprint_of(pair.image);
            pair_up(leader.data, image.data);
            pair_up(leader.acks, image.acks);
        }
    }
    std::sort(ports.begin(), ports.end());
    for (auto& [leader, image] : ports) {
        image = std::exchange(copy_of_[leader], kNone);
    }
    return ports;
}

}  // namespace sluice::step
