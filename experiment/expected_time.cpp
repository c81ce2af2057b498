// SPDX-License-Identifier: Apache-2.0
#include "experiment/expected_time.h"

#include <algorithm>

namespace sluice {

ExpectedTime expected_time(const BuiltExperiment& built, Mode mode, double audit) {
    const TrafficEstimate& traffic = built.estimate;
    const double speed = packet_hops_per_second(built.experiment.topology.host_count());
    const auto flows = static_cast<double>(traffic.ideal.size());
    double least = traffic.packet_hops / speed;
    double most = least;
    if (mode == Mode::flow) {
        least = kFlowModeSeconds * flows;
        most = least;
    } else if (has_phases(mode)) {
        const double audited =
            std::min(audit * traffic.settling_hops, traffic.packet_hops - traffic.settling_hops);
        least = (traffic.settling_hops + audited) / speed;
        if (may_hold_copies(built)) {
            least = std::min(least, kCopiedFlowSeconds * flows);
        }
    }
    return {std::max(least, kLeastSeconds), std::max(most, kLeastSeconds)};
}

bool may_hold_copies(const BuiltExperiment& built) {
    return built.experiment.fold && !built.jobs.empty();
}

double expected_memory(const BuiltExperiment& built) {
    const Experiment& experiment = built.experiment;
    std::size_t operations = 0;
    for (const BuiltJob& job : built.jobs) operations += job.application->graph().op_count();
    return kBytesPerProcess + static_cast<double>(built.estimate.routing_bytes) +
           kBytesPerPort * static_cast<double>(experiment.topology.port_count()) +
           kBytesPerFlow * static_cast<double>(experiment.flows.size()) +
           kBytesPerOperation * static_cast<double>(operations);
}

}  // namespace sluice
