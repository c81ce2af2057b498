// SPDX-License-Identifier: Apache-2.0
/// Drives a network under Arithmetic::ns3: one event queue, executed in ns-3's order. It has the
/// face of the driver of windows (core/engine/driver.h), but steps no node as a whole: models that
/// override a step, or stand outside, have no place in that order.
#pragma once

#include <vector>

#include "core/clocks/hook_runner.h"
#include "core/clocks/membership.h"
#include "core/ns3/state.h"

namespace sluice::ns3 {

class Driver {
  public:
    /// After store.begin(), whose timers it takes over.
    Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks);
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return hooks_.stopped(); }
    /// The next instant at which there is something to do.
    Tick next() const;
    /// Executes everything before `limit`. Returns next(), or kNever once stopped.
    Tick advance(Tick limit);
    /// Instants at which something was executed.
    std::uint64_t instants() const { return instants_; }
    /// No flow is under way and nothing will start: what is left to execute changes no result.
    bool idle() const { return pending_timers_ == 0 && state_.open_flows == 0; }

  private:
    /// ns-3 reads flows one after the other: the start of each schedules the reading of the next,
    /// and a flow goes through two events of no duration before its queue pair exists.
    struct Start {
        Tick at;
        FlowId flow;
    };

    void take_over_timers();
    void adopt(NodeId host, step::Timer timer);
    void schedule_reading();
    void read_starts(Tick now);
    void report(Tick now);
    void execute(EventCode code, Tick now);
    void arrive(PortId port, Tick now);
    void run_timer(std::uint32_t index, Tick now);
    void set_link(LinkId link, bool up, Tick now);
    void redistribute(NodeId host, Tick now);
    Tick next_cut() const;
    void execute_cut(Tick at);

    step::WorldStore& store_;
    step::HookRunner hooks_;
    step::Membership membership_;
    State state_;
    std::vector<Start> starts_;  ///< in the order of reading
    std::size_t next_start_ = 0;
    std::size_t pending_timers_ = 0;  ///< starts and the application's
    Tick now_ = 0;
    std::uint64_t instants_ = 0;
};

}  // namespace sluice::ns3
