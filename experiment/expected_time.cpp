// SPDX-License-Identifier: Apache-2.0
#include "experiment/expected_time.h"

#include <algorithm>

#include "scenario/combinations/configuration.h"

namespace sluice {

namespace {

bool has_experts(const BuiltExperiment& built) {
    return std::any_of(built.class_names.begin(), built.class_names.end(), [](const auto& name) {
        return name.size() >= 2 && name.compare(name.size() - 2, 2, "ep") == 0;
    });
}

void set_likely(const BuiltExperiment& built, Mode mode, double settled_s, ExpectedTime& time) {
    // The last ports of paths at most, and all paths are of one kind.
    const bool apart = built.estimate.longest_path <= kOneSwitch &&
                       built.estimate.shared_ports <= built.experiment.topology.host_count();
    if (may_hold_copies(built) && apart) {
        time.likely_s = kCopiedJobSeconds + kCopiedTimesLeast * time.least_s;
        time.likely_why = "its parts are copies whose data meets at its destination at most";
    } else if (has_phases(mode) && built.experiment.phases.local()) {
        const double colliding =
            built.estimate.colliding_hops / std::max(built.estimate.packet_hops, 1.0);
        time.likely_s = kCollidingLocally * colliding * time.most_s + (1 - colliding) * settled_s;
        time.likely_why =
            "messages that meet between switches contend, the others settle one by one";
        const double following =
            kFollowedSeconds + kFollowerSeconds * static_cast<double>(built.estimate.ideal.size());
        if (following < time.likely_s) {
            time.likely_s = following;
            time.likely_why = "most messages do as others of their kind have done before";
        }
    } else if (has_experts(built)) {
        time.likely_s = kExchangedShare * time.most_s;
        time.likely_why = "messages of experts contend and hardly settle";
    } else if (may_hold_copies(built) && built.estimate.shared_inside > 0) {
        time.likely_s = kCollidingShare * time.most_s;
        time.likely_why = "messages of different hosts meet between switches and contend for long";
    } else if (built.jobs.empty() && built.estimate.shared_ports > 0) {
        time.likely_s = time.most_s;
        time.likely_why = "flows of different hosts share ports and hardly settle";
    } else {
        time.likely_s = settled_s;
        time.likely_why = "messages settle one by one, short ones not at all";
    }
    time.likely_s = std::clamp(time.likely_s, time.least_s, time.most_s);
}

}  // namespace

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
    ExpectedTime time;
    time.least_s = std::max(least, kLeastSeconds);
    time.most_s = std::max(most, kLeastSeconds);
    set_likely(built, mode, traffic.settling_hops / speed, time);
    return time;
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
