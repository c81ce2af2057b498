// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/cluster_kind.h"

#include <map>

namespace sluice::hybrid {

namespace {

void append_way(ClusterKey& key, const std::vector<PortId>& way, std::map<PortId, int>& names,
                const std::function<ClusterPort(PortId)>& describe) {
    key.push_back(static_cast<std::int64_t>(way.size()));
    for (const PortId port : way) {
        const auto [name, first] = names.insert({port, static_cast<int>(names.size())});
        key.push_back(name->second);
        if (first) {
            const ClusterPort told = describe(port);
            key.insert(key.end(), {told.rate, told.mark_bytes, told.across});
        }
    }
}

}  // namespace

ClusterKey cluster_key(const std::vector<ClusterFlow>& flows,
                       const std::function<ClusterPort(PortId)>& describe) {
    ClusterKey key;
    std::map<PortId, int> names;
    for (const ClusterFlow& flow : flows) {
        key.insert(key.end(), {flow.base_rtt, flow.line_rate, flow.age, flow.traffic_class});
        key.insert(key.end(), flow.law.begin(), flow.law.end());
        append_way(key, flow.way->data, names, describe);
        append_way(key, flow.way->acks, names, describe);
    }
    return key;
}

}  // namespace sluice::hybrid
