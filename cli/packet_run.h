// SPDX-License-Identifier: Apache-2.0
/// Runs an Experiment in packet mode: elaborates the SystemC network, starts the kernel, reports.
/// One PacketRun per process at a time (a SystemC context is global). No SystemC header here.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/experiment.h"
#include "core/results/statistics.h"

namespace sluice {

struct PfcEvent {
    Tick at = 0;
    PortId port = 0;  ///< the port that received the frame, i.e. the one that is (un)paused
    bool pause = false;
};

struct RunHooks {
    /// About every `interval` of simulated time (and of wall time, whatever comes first); returns
    /// false to stop the run early. Called between windows.
    std::function<bool(Tick now)> on_progress;
    Tick interval = 100 * kMicrosecond;
    /// Finished flows, in (finish, flow) order.
    std::function<void(FlowId, const FlowResult&)> on_finish;
    std::function<void(const PfcEvent&)> on_pfc;
    /// Queue sampling: called at sample_from, + sample_every, ... <= sample_to with the egress
    /// backlog in bytes of every port after everything before `now` and nothing at `now`.
    std::function<void(Tick now, const std::vector<std::int64_t>& queue_bytes)> on_sample;
    Tick sample_every = 0;
    Tick sample_from = 0;
    Tick sample_to = 0;
    bool checksum = false;  ///< fill RunCounters::hop_checksum
};

class PacketRun {
  public:
    /// Elaborates. The experiment must outlive the run.
    explicit PacketRun(const Experiment& experiment);
    ~PacketRun();

    /// Runs until every flow has finished and the application is at rest, until experiment.stop,
    /// or until a hook says so. What a hook throws ends the run and is thrown from here.
    void run(const RunHooks& hooks);

    /// The experiment's stop time ended the run with something left to do.
    bool cut_off() const;
    Tick now() const;                                ///< simulated time reached
    const std::vector<FlowResult>& results() const;  ///< by flow id
    RunCounters counters() const;
    std::vector<PortStatistics> port_statistics() const;  ///< by port id
    double elaboration_seconds() const;
    std::size_t memory_bytes() const;  ///< the engine's columns, queues and links

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
