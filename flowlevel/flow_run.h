// SPDX-License-Identifier: Apache-2.0
/// Flow mode: runs an experiment without packets. Every flow sends at its weighted max-min rate
/// from its first byte on; rates change when a flow starts or ends or a link fails or is repaired,
/// and are constant in between. Model, equations and what is left out: docs/models/flow_level.md.
/// Applications see the same instants as in packet mode: on_received when the last byte is at the
/// receiver, on_sent when the last ACK is back.
/// Memory grows with the list of flows, and with the most opened flows that there are at a time: an
/// opened flow is forgotten once it has been reported.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/flow/application.h"
#include "core/flow/flow.h"
#include "core/packet/network_config.h"
#include "core/results/run_hooks.h"
#include "core/results/statistics.h"
#include "core/topology/topology.h"

namespace sluice::flowlevel {

/// What a run needs; everything referred to must outlive it.
struct FlowExperiment {
    const Topology& topology;
    const NetworkConfig& network;
    const std::vector<FlowSpec>& flows;
    const std::vector<FlowPath>& paths;  ///< empty, or one per flow
    const std::vector<LinkEvent>& link_events;
    Application* application = nullptr;  ///< may be null: flows have start times
    Tick stop = kNever;                  ///< nothing happens at or after this instant
};

class FlowRun {
  public:
    /// Finds paths and checks the flows. Throws ConfigError as packet mode does: a flow that is not
    /// between two hosts, has no bytes, a priority outside 1..7, or no path.
    explicit FlowRun(const FlowExperiment& experiment);
    ~FlowRun();
    FlowRun(const FlowRun&) = delete;
    FlowRun& operator=(const FlowRun&) = delete;

    /// Runs once: until every flow has finished and the application is at rest, until
    /// experiment.stop, or until a hook says so. What a hook throws ends the run. There are neither
    /// pauses nor phases nor queues to tell of.
    void run(const RunHooks& hooks);

    /// The stop time ended the run with something left to do.
    bool cut_off() const;
    Tick now() const;  ///< simulated time reached
    /// Of the list's flows, by id. Of those that an application opens, on_finish tells.
    const std::vector<FlowResult>& results() const;
    /// Flows, of the list or opened, that have started and are not complete.
    std::vector<FlowSpec> under_way() const;
    /// How many opened flows are not over.
    std::size_t opened_unfinished() const;
    /// `events` counts starts, ends of transfers, arrivals, timers and link events; what only
    /// packets have (hops, windows, drops, marks, pauses) is 0.
    RunCounters counters() const;
    /// By port id: bytes and frames of data and ACKs as if sent in packets; the rest is 0.
    std::vector<PortStatistics> port_statistics() const;
    double elaboration_seconds() const;
    std::size_t memory_bytes() const;
    std::uint64_t rate_changes() const;  ///< how often a flow's rate was set

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::flowlevel
