// SPDX-License-Identifier: Apache-2.0
/// What the tests of streamed jobs share: a job, as a graph or as a stream, alone in flow mode.
#pragma once

#include <vector>

#include "core/topology/topology.h"
#include "flowlevel/flow_run.h"

namespace sluice::test {

struct JobOutcome {
    std::vector<FlowRecord> flows;  ///< in (finish, flow) order
    std::uint64_t events = 0;
    Tick last_end = 0;
    bool complete = false;
};

/// `flows`: the job's list, empty for one that opens them.
template <typename Job>
JobOutcome run_job(const Topology& topology, const std::vector<FlowSpec>& flows, Job& job) {
    const NetworkConfig network;
    const std::vector<FlowPath> paths;
    const std::vector<LinkEvent> events;
    flowlevel::FlowRun engine({topology, network, flows, paths, events, &job, kNever});
    JobOutcome outcome;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) { outcome.flows.push_back(flow); };
    engine.run(hooks);
    outcome.events = engine.counters().events;
    outcome.last_end = job.last_end();
    outcome.complete = job.complete();
    return outcome;
}

}  // namespace sluice::test
