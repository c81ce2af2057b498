// SPDX-License-Identifier: Apache-2.0
/// What the threads of a gang do with a lane's window, one source for g++ and nvcc: systems over columns, with
/// a barrier between them. Within one system no thread reads what another one writes but sums of integers that
/// nobody looks at until the next one, so nothing can tell which thread did what, or when.
///
///   choose   a thread a block of hosts or switch ports: the earliest instant of all is the window's begin
///   list     the same: who has something to do in it
///   plan     a thread a host: its step (core/packet/nic.h); a thread an ingress port of a switch: its
///            arrivals are routed and listed in the order of time
///   decide   a thread a switch: is the window quiet (core/packet/switch.h)? If not, it steps the switch
///   pull     a thread an egress port of a quiet switch: takes its packets out of the ingress ports' lists,
///            sorts them, works them off; what it sends waits in the receiver's outbox
///   gather   a thread a receiver: takes what waits for it
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
    /// `world`: a copy of the lane's columns, this thread's own or its block's (step::counts_of()).
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
                    forget();
                    begin_ = gang_.min(earliest());
                    if (begin_ >= lane_.until) {
                        return leave(Outcome::reached);
                    }
                    end_ = begin_ + world_.lookahead;
                    end_ = lane_.until < end_ ? lane_.until : end_;
                    ++done_;
                    stage_ = Stage::list;
                    break;
                case Stage::list:
                    list();
                    meet(true, Stage::plan);
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

    /// Calls `act(thing)` for this thread's share of a list.
    template <class Act>
    SLUICE_HD void share(const WindowList& list, Act&& act) const {
        share(list.count, [&](std::uint32_t i) { act(list[i]); });
    }

    /// The lists of the window before, and what was known of what is in them.
    SLUICE_HD void forget() {
        share(lane_.touched_hosts, [&](std::uint32_t i) {
            HostPlan& plan = lane_.host_plan[lane_.hosts[i]];
            plan.calls.count = 0;
            plan.called = false;
            plan.touched = 0;
        });
        share(lane_.touched_ports,
              [&](std::uint32_t i) { plan_of(lane_, lane_.switch_ports[i]).touched = 0; });
        share(lane_.leaving,
              [&](std::uint32_t i) { plan_of(lane_, lane_.switch_ports[i]).leaves = 0; });
        share(lane_.awake, [&](NodeId node) {
            SwitchPlan& plan = lane_.switch_plan[node];
            plan.active = 0;
            plan.arrived = 0;
            plan.mode = SwitchMode::open;
        });
        gang_.any(false);
        if (gang_.first()) {
            for (WindowList* const list :
                 {&lane_.active_hosts, &lane_.active_ports, &lane_.awake, &lane_.leaving,
                  &lane_.touched_hosts, &lane_.touched_ports, &lane_.callers}) {
                list->count = 0;
            }
        }
    }

    /// When a host (a place in Lane::hosts) or a switch port, numbered behind the hosts' blocks, is due.
    SLUICE_HD Tick next_of(std::uint32_t i) const {
        const std::uint32_t ports = blocks_of(lane_.host_count) * kBlock;
        if (i < lane_.host_count) {
            return world_.wake[lane_.hosts[i]];
        }
        return i >= ports && i < ports + lane_.switch_port_count ? lane_.next[i - ports] : kNever;
    }
    SLUICE_HD std::uint32_t block_count() const {
        return blocks_of(lane_.host_count) + blocks_of(lane_.switch_port_count);
    }

    SLUICE_HD Tick earliest() const {
        Tick at = kNever;
        share(block_count(), [&](std::uint32_t block) {
            Tick& next = lane_.block_next[block];
            if (lane_.outdated[block] != 0) {
                lane_.outdated[block] = 0;
                next = kNever;
                for (std::uint32_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
                    const Tick due = next_of(i);
                    next = due < next ? due : next;
                }
            }
            at = next < at ? next : at;
        });
        return at;
    }

    // Systems. False: something has found no memory.

    SLUICE_DEVICE_NOINLINE SLUICE_HD void list() {
        const std::uint32_t ports = blocks_of(lane_.host_count) * kBlock;
        share(block_count(), [&](std::uint32_t block) {
            if (lane_.block_next[block] >= end_) {
                return;
            }
            for (std::uint32_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
                if (next_of(i) >= end_) {
                    continue;
                }
                if (i < ports) {
                    add_to(lane_.active_hosts, i);
                    touch_host(lane_, lane_.hosts[i]);
                } else {
                    list_port(i - ports);
                }
            }
        });
    }

    SLUICE_HD void list_port(std::uint32_t i) {
        const PortId port = lane_.switch_ports[i];
        const NodeId node = lane_.node_of[port];
        add_to(lane_.active_ports, i);
        touch_port(lane_, plan_of(lane_, port));
        if (claim_shared(lane_.switch_plan[node].active)) {
            add_to(lane_.awake, node);
        }
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool plan() {
        bool there = true;
        share(lane_.active_hosts, [&](std::uint32_t i) {
            const NodeId host = lane_.hosts[i];
            if (world_.wake[host] < end_) {
                there = step_host(host) && there;
            }
        });
        SwitchWindow<Policies> window(lane_, world_, begin_, end_);
        share(lane_.active_ports,
              [&](std::uint32_t i) { there = window.plan_port(lane_.switch_ports[i]) && there; });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool step_host(NodeId host) {
        PlainVector<step::Call>& calls = lane_.host_plan[host].calls;
        const bool called = calls.count > 0;
        step::host_step<LaneEvents>(world_, step::whole_node(host), end_);
        if (!called && calls.count > 0) {
            add_to(lane_.callers, host);
        }
        for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
            touch_receiver(lane_, world_, p);
        }
        return world_.wake[host] >= end_;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool decide() {
        bool there = true;
        SwitchWindow<Policies> window(lane_, world_, begin_, end_);
        share(lane_.awake, [&](NodeId node) {
            SwitchPlan& plan = lane_.switch_plan[node];
            if (plan.mode != SwitchMode::open) {
                return;
            }
            if (window.is_quiet(node)) {
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
        share(lane_.leaving, [&](std::uint32_t i) {
            const PortId port = lane_.switch_ports[i];
            const NodeId node = lane_.node_of[port];
            PortPlan& plan = plan_of(lane_, port);
            if (lane_.switch_plan[node].mode == SwitchMode::quiet && !plan.pulled) {
                plan.pulled = window.pull_port(node, port, plan);
                there = there && plan.pulled;
            }
        });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool gather() {
        bool there = true;
        share(lane_.touched_hosts, [&](std::uint32_t i) {
            const NodeId host = lane_.hosts[i];
            for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
                there = take_outbox(world_, p) && there;
                step::wake_cell(world_, host, world_.link[p].arrival);
            }
            there = take_calls(lane_, world_, host) && there;
            outdate_host(lane_, i);
        });
        share(lane_.touched_ports, [&](std::uint32_t i) { there = gather_port(i) && there; });
        return there;
    }

    SLUICE_HD bool gather_port(std::uint32_t i) {
        const PortId port = lane_.switch_ports[i];
        PortPlan& plan = plan_of(lane_, port);
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
        outdate_port(lane_, i);
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
