// SPDX-License-Identifier: Apache-2.0
/// The state of a FlowRun, shared by its parts: flow_run.cpp (the loop over instants and what hosts
/// see), flow_transfers.cpp (flows on links) and flow_links.cpp (links that fail and come back).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/routing/routing.h"
#include "flowlevel/class_shares.h"
#include "flowlevel/connection_queues.h"
#include "flowlevel/finish_times.h"
#include "flowlevel/flow_events.h"
#include "flowlevel/flow_path.h"
#include "flowlevel/flow_run.h"
#include "flowlevel/flow_table.h"
#include "flowlevel/max_min.h"

namespace sluice::flowlevel {

/// A flow that is sending. Its index is the solver's handle.
struct Active {
    FlowSlot flow = kNone;
    double remaining = 0;  ///< payload bytes at `since`
    double counted = 0;    ///< of which so many are not yet in the ports' statistics
    double rate = 0;       ///< payload bytes per tick from `since` on
    Tick since = 0;
    FlowPorts ports;
};

struct Stalled {
    FlowSlot flow = kNone;
    double remaining = 0;
};

using Wall = std::chrono::steady_clock;

struct FlowRun::Impl {
    explicit Impl(const FlowExperiment& given);

    class Services;

    FlowId open_flow(NodeId host, const FlowSpec& given, Tick at);
    void begin();
    Tick next_instant();
    void execute_instant();
    void execute(const Event& event);
    void report(const RunHooks& hooks);
    void report_finished(const RunHooks& hooks);

    void end_transfers();
    void begin_sending(FlowSlot flow);
    void start(FlowSlot flow, double remaining);
    void attach(FlowSlot flow, double remaining, FlowPorts ports);
    void settle(Active& active) const;
    void count(const Active& active, double left, std::vector<PortStatistics>& into) const;
    void touch(const FlowPorts& changed);
    void share_classes();
    void apply_rates();
    FlowPorts ports_of(FlowSlot flow) const;

    void change_links();

    bool at_rest() const { return net.flow_count() == 0 && stalled.empty() && events.empty(); }

    const FlowExperiment experiment;
    Routing routing;
    MaxMin net;
    ClassShares classes;
    Tick lookahead = 0;
    FlowTable flows;
    std::vector<std::uint32_t> opened_by;  ///< by host: flows that the engine numbered
    std::vector<PortStatistics> ports;     ///< of what is no longer under way
    std::vector<Active> active;
    ConnectionQueues queues;
    std::vector<Stalled> stalled;  ///< flows without a path, in the order in which they lost it
    FinishTimes finish;
    EventQueue events;
    std::vector<LinkEvent> link_events;
    std::size_t next_link_event = 0;
    bool any_link_down = false;
    std::vector<FlowSlot> finished;  ///< at this instant
    std::vector<std::uint32_t> due;
    std::vector<FlowSlot> begins;  ///< end_transfers(): whose turn it is
    std::vector<LinkUse> uses;
    std::vector<MaxMin::Flow> moved;  ///< apply_rates(): those with new rates
    Tick now = 0;
    Tick next_progress = 0;
    Wall::time_point last_progress = Wall::now();
    std::uint64_t event_count = 0;
    std::uint64_t rate_changes = 0;
    std::uint32_t instants = 0;  ///< for report(): when to look at the clock
    bool cut_off = false;
    bool stopped = false;
    double elaboration_seconds = 0;
};

}  // namespace sluice::flowlevel
