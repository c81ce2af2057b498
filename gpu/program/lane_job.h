// SPDX-License-Identifier: Apache-2.0
/// Jobs in a lane: what a job's step (core/job/job_step.h) is offered there. Timers for other hosts wait in
/// their caller's list until the window's end.
#pragma once

#include "core/job/job_step.h"
#include "core/memory_space.h"
#include "core/packet/timers.h"
#include "gpu/program/lists.h"

namespace sluice::gpu {

class LaneServices : OnLane {
  public:
    SLUICE_HD LaneServices(Lane& lane, step::World& world, NodeId host, std::uint32_t number)
        : OnLane(lane, world), host_(host), number_(number) {}

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool room(std::uint32_t more) {
        step::Host& host = world().host[host_];
        PlainVector<step::Call>& calls = lane().host_plan[host_].calls;
        return host.timers.reserve(world().memory, host.timers.count + more) &&
               calls.reserve(world().memory, calls.count + more);
    }
    SLUICE_DEVICE_NOINLINE SLUICE_HD void start_flow(FlowId flow, Tick at) {
        const auto slot =
            static_cast<FlowSlot>(flow);  // the list's flows have the slots of their ids
        step::schedule(world(), host_, step::Timer{at, step::TimerKind::flow_start, slot, flow});
    }
    SLUICE_DEVICE_NOINLINE SLUICE_HD void set_timer(NodeId host, Tick at, std::uint64_t token) {
        const step::Timer timer{at, step::TimerKind::application, kNone,
                                token | std::uint64_t{number_} << job::kJobShift};
        if (host == host_) {
            step::schedule(world(), host, timer);
        } else {
            lane().host_plan[host_].calls.push(world().memory, step::Call{host, timer});
            touch_host(lane(), host);
        }
    }
    SLUICE_HD Tick lookahead() const { return world().lookahead; }
    SLUICE_HD void bad_release(OpId, RankResourceId) { set_shared(lane().fault, 1); }

  private:
    NodeId host_;
    std::uint32_t number_;
};

/// The rank at `host`, null if there is none.
SLUICE_HD inline job::RankState* rank_state(const Lane& lane, NodeId host) {
    const std::uint32_t number = lane.job_count == 0 ? kNone : lane.job_at[host];
    if (number == kNone) {
        return nullptr;
    }
    const job::Job& job = lane.jobs[number];
    return &job.state[job::rank_at(job, host)];
}

/// Calls `act` with the step of the job at `host`, if there is one.
template <class Act>
SLUICE_HD inline void at_job(step::World& world, NodeId host, Act&& act) {
    Lane& lane = lane_of(world);
    const std::uint32_t number = lane.job_count == 0 ? kNone : lane.job_at[host];
    if (number != kNone) {
        LaneServices services(lane, world, host, number);
        job::Step<LaneServices> step(lane.jobs[number], services);
        act(step);
    }
}

}  // namespace sluice::gpu
