// SPDX-License-Identifier: Apache-2.0
/// What the threads of a gang do with a lane's window, one source for g++ and nvcc: systems over columns, with
/// a barrier between them. Within one system no thread reads what another one writes but sums of integers that
/// nobody looks at until the next one, so nothing can tell which thread did what, or when.
///
///   choose   the earliest instant of all ports and hosts: the window's begin
///   plan     a thread a host: its step (core/packet/nic.h); a thread an ingress port of a switch: its
///            arrivals are routed and listed in the order of time
///   decide   a thread a switch: is the window quiet (core/packet/switch.h)? If not, it steps the switch
///   pull     a thread an egress port of a quiet switch: takes its packets out of the ingress ports' lists,
///            sorts them, works them off; what it sends waits in the receiver's outbox
///   gather   a thread a receiving port: takes what waits for it
///
/// Every thing that is done asks for its memory first. What finds none is left as it was, the lane stops after
/// the system, and goes on with the same system when it has more. Results are those of run_window()
/// (core/clocks/window_loop.h), bit by bit.
///
/// A Gang is whoever runs the program: `item(k, count)`, the k-th of this thread's share of `count` things, or
/// anything >= count; `min(t)` and `any(b)` of all its threads, each a barrier; `first()`, one thread's duty.
#pragma once

#include "gpu/program/counting.h"
#include "gpu/program/delivery.h"
#include "gpu/program/lane_events.h"
#include "gpu/program/switch_window.h"

namespace sluice::gpu {

template <class Gang, class Policies = step::ScenarioPolicies>
class Program {
  public:
    /// `world`: a copy of the lane's, this thread's own.
    SLUICE_HD Program(Lane& lane, step::World& world, Gang& gang)
        : lane_(lane), world_(world), gang_(gang), stage_(lane.stage) {}

    /// Executes `windows` windows, or fewer. All threads of the gang call it, and return the same.
    SLUICE_HD Outcome run(std::uint64_t windows) {
        begin_ = lane_.begin;
        end_ = lane_.end;
        for (;;) {
            switch (stage_) {
                case Stage::choose:
                    if (done_ == windows) {
                        return leave(Outcome::paused);
                    }
                    forget_calls();
                    begin_ = gang_.min(earliest());
                    if (begin_ >= lane_.until) {
                        return leave(Outcome::reached);
                    }
                    end_ = begin_ + world_.lookahead;
                    end_ = lane_.until < end_ ? lane_.until : end_;
                    ++done_;
                    stage_ = Stage::plan;
                    break;
                case Stage::plan: meet(plan(), Stage::decide); break;
                case Stage::decide: meet(decide(), Stage::pull); break;
                case Stage::pull: meet(pull(), Stage::gather); break;
                case Stage::gather: meet(gather(), Stage::choose); break;
            }
            if (full_) {
                return leave(Outcome::full);
            }
        }
    }

  private:
    /// The barrier after a system; all threads know whether one of them found no memory.
    SLUICE_HD void meet(bool there, Stage next) {
        full_ = gang_.any(!there);
        stage_ = full_ ? stage_ : next;
    }

    SLUICE_HD Outcome leave(Outcome outcome) {
        if (gang_.first()) {
            lane_.stage = stage_;
            lane_.begin = begin_;
            lane_.end = end_;
            lane_.windows += done_;
        }
        return outcome;
    }

    /// Calls `act(i)` for this thread's share of `count` things.
    template <class Act>
    SLUICE_HD void share(std::uint32_t count, Act&& act) const {
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; (i = gang_.item(k, count)) < count; ++k) {
            act(i);
        }
    }

    /// What the window before has delivered.
    SLUICE_HD void forget_calls() {
        if (lane_.caller_count == 0) {
            return;
        }
        share(lane_.host_count, [&](std::uint32_t i) {
            HostPlan& plan = lane_.host_plan[lane_.hosts[i]];
            plan.calls.count = 0;
            plan.called = false;
        });
        gang_.any(false);
        if (gang_.first()) {
            lane_.caller_count = 0;
        }
    }

    SLUICE_HD Tick earliest() const {
        Tick at = kNever;
        share(lane_.host_count, [&](std::uint32_t i) {
            const Tick wake = world_.wake[lane_.hosts[i]];
            at = wake < at ? wake : at;
        });
        share(lane_.switch_port_count,
              [&](std::uint32_t i) { at = lane_.next[i] < at ? lane_.next[i] : at; });
        return at;
    }

    // Systems. False: something has found no memory.

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool plan() {
        bool there = true;
        share(lane_.host_count, [&](std::uint32_t i) {
            const NodeId host = lane_.hosts[i];
            if (world_.wake[host] < end_) {
                there = step_host(host) && there;
            }
        });
        SwitchWindow<Policies> window(lane_, world_, begin_, end_);
        share(lane_.switch_port_count, [&](std::uint32_t i) {
            const PortId port = lane_.switch_ports[i];
            if (lane_.next[i] < end_) {
                set_shared(lane_.switch_plan[lane_.node_of[port]].active, 1);
                there = window.plan_port(port) && there;
            }
        });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool step_host(NodeId host) {
        PlainVector<step::Call>& calls = lane_.host_plan[host].calls;
        const bool called = calls.count > 0;
        step::host_step<LaneEvents>(world_, step::whole_node(host), end_);
        if (!called && calls.count > 0) {
            lane_.callers[add_shared(lane_.caller_count, 1)] = host;
        }
        return world_.wake[host] >= end_;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool decide() {
        bool there = true;
        SwitchWindow<Policies> window(lane_, world_, begin_, end_);
        share(lane_.switch_count, [&](std::uint32_t i) {
            const NodeId node = lane_.switches[i];
            SwitchPlan& plan = lane_.switch_plan[node];
            if (plan.mode != SwitchMode::open) {
                return;
            }
            if (plan.active == 0) {
                plan.mode = SwitchMode::idle;
            } else if (window.is_quiet(node)) {
                plan.mode = SwitchMode::quiet;
            } else if (window.step_whole(node, plan)) {
                plan.mode = SwitchMode::done;
            } else {
                there = false;
            }
        });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool pull() {
        bool there = true;
        SwitchWindow<Policies> window(lane_, world_, begin_, end_);
        share(lane_.switch_port_count, [&](std::uint32_t i) {
            const PortId port = lane_.switch_ports[i];
            const NodeId node = lane_.node_of[port];
            PortPlan& plan = lane_.port_plan[port];
            if (lane_.switch_plan[node].mode == SwitchMode::quiet && !plan.pulled) {
                plan.pulled = window.pull_port(node, port, plan);
                there = there && plan.pulled;
            }
        });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool gather() {
        bool there = true;
        share(lane_.host_count, [&](std::uint32_t i) {
            const NodeId host = lane_.hosts[i];
            for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
                there = take_outbox(world_, p) && there;
                step::wake_cell(world_, host, world_.link[p].arrival);
            }
            there = take_calls(lane_, world_, host) && there;
        });
        share(lane_.switch_port_count, [&](std::uint32_t i) { there = gather_port(i) && there; });
        share(lane_.switch_count, [&](std::uint32_t i) {
            SwitchPlan& plan = lane_.switch_plan[lane_.switches[i]];
            plan.active = 0;
            plan.arrived = 0;
            plan.mode = SwitchMode::open;
        });
        return there;
    }

    SLUICE_HD bool gather_port(std::uint32_t i) {
        const PortId port = lane_.switch_ports[i];
        PortPlan& plan = lane_.port_plan[port];
        step::Wire& link = world_.link[port];
        if (plan.planned) {
            link.head = plan.head;
            link.arrival = step::next_arrival(link);
            plan.arrivals.count = 0;
            plan.planned = false;
        }
        plan.pulled = false;
        const bool there = take_outbox(world_, port);
        lane_.next[i] = link.arrival < link.decision ? link.arrival : link.decision;
        return there;
    }

    Lane& lane_;
    step::World& world_;
    Gang& gang_;
    Stage stage_;
    Tick begin_ = 0;
    Tick end_ = 0;
    std::uint64_t done_ = 0;
    bool full_ = false;
};

}  // namespace sluice::gpu
