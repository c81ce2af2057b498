// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/steady_phase.h"

#include <algorithm>

namespace sluice::flowlevel {

std::vector<double> steady_rates(const std::vector<SteadyFlow>& flows,
                                 const std::vector<double>& capacities) {
    MaxMin net(capacities);
    for (const SteadyFlow& flow : flows) {
        Demand demand;
        demand.weight = flow.weight;
        demand.minimum = std::min({flow.instantaneous, flow.guaranteed, flow.cap});
        demand.cap = flow.cap;
        net.add(flow.links, demand);
    }
    net.solve_all();
    std::vector<double> rates(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        // Nothing was removed, so handles are indices.
        rates[i] = net.rate(static_cast<MaxMin::Flow>(i));
    }
    return rates;
}

}  // namespace sluice::flowlevel
