// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/steady_phase.h"

#include <algorithm>

namespace sluice::flowlevel {

SteadyPhase steady_phase(const std::vector<SteadyFlow>& flows,
                         const std::vector<double>& capacities,
                         const std::vector<double>& queue_bytes) {
    MaxMin net(capacities);
    for (const SteadyFlow& flow : flows) {
        Demand demand;
        demand.weight = flow.weight;
        demand.minimum = std::min({flow.instantaneous, flow.guaranteed, flow.cap});
        demand.cap = flow.cap;
        net.add(flow.links, demand);
    }
    net.solve_all();
    SteadyPhase phase;
    phase.first = flows.size();
    for (std::size_t i = 0; i < flows.size(); ++i) {
        // Nothing was removed, so handles are indices.
        const double rate = net.rate(static_cast<MaxMin::Flow>(i));
        double completion = kUnlimited;
        if (rate > 0) {
            completion = flows[i].remaining / rate;
            if (completion < phase.duration) {
                phase.duration = completion;
                phase.first = i;
            }
            for (const std::uint32_t link : flows[i].queues) {
                completion += capacities[link] > 0 ? queue_bytes[link] / capacities[link] : 0;
            }
        }
        phase.rates.push_back(rate);
        phase.completions.push_back(completion);
    }
    return phase;
}

}  // namespace sluice::flowlevel
