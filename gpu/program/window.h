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

#include "core/memory_space.h"
#include "gpu/program/counting.h"
#include "gpu/program/delivery.h"
#include "gpu/program/lane_events.h"
#include "gpu/program/switch_window.h"

namespace sluice::gpu {

template <class Gang, class Policies = step::ScenarioPolicies>
class Program : OnLane {
  public:
    /// As OnLane has them; on a device `gang` is in shared memory, too.
    SLUICE_HD Program(Lane& lane, step::World& world, Gang& gang)
        : OnLane(lane, world), gang_(gang), stage_(lane.stage) {}

    /// Executes `windows` windows, or fewer. All threads of the gang call it, and return the same.
    SLUICE_HD Outcome run(std::uint64_t windows) {
        begin_ = lane().begin;
        end_ = lane().end;
        for (;;) {
            switch (stage_) {
                case Stage::choose:
                    if (done_ == windows) {
                        return leave(Outcome::paused);
                    }
                    forget();
                    begin_ = gang().min(earliest());
                    if (begin_ >= lane().until) {
                        return leave(Outcome::reached);
                    }
                    end_ = begin_ + world().lookahead;
                    end_ = lane().until < end_ ? lane().until : end_;
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
        full_ = gang().any(!there);
        stage_ = full_ ? stage_ : next;
    }

    SLUICE_HD Outcome leave(Outcome outcome) {
        if (gang().first()) {
            lane().stage = stage_;
            lane().begin = begin_;
            lane().end = end_;
            lane().windows += done_;
        }
        return outcome;
    }

    /// Calls `act(i)` for this thread's share of `count` things.
    template <class Act>
    SLUICE_HD void share(std::uint32_t count, Act&& act) const {
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; (i = gang().item(k, count)) < count; ++k) {
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
        share(lane().touched_hosts, [&](std::uint32_t i) {
            HostPlan& plan = lane().host_plan[lane().hosts[i]];
            plan.calls.count = 0;
            plan.called = false;
            plan.touched = 0;
        });
        share(lane().touched_ports,
              [&](std::uint32_t i) { plan_of(lane(), lane().switch_ports[i]).touched = 0; });
        share(lane().leaving,
              [&](std::uint32_t i) { plan_of(lane(), lane().switch_ports[i]).leaves = 0; });
        share(lane().awake, [&](NodeId node) {
            SwitchPlan& plan = lane().switch_plan[node];
            plan.active = 0;
            plan.arrived = 0;
            plan.mode = SwitchMode::open;
        });
        gang().any(false);
        if (gang().first()) {
            for (WindowList* const list :
                 {&lane().active_hosts, &lane().active_ports, &lane().awake, &lane().leaving,
                  &lane().touched_hosts, &lane().touched_ports, &lane().callers}) {
                list->count = 0;
            }
        }
    }

    /// When a host (a place in Lane::hosts) or a switch port, numbered behind the hosts' blocks, is due.
    SLUICE_HD Tick next_of(std::uint32_t i) const {
        const std::uint32_t ports = blocks_of(lane().host_count) * kBlock;
        if (i < lane().host_count) {
            return world().wake[lane().hosts[i]];
        }
        return i >= ports && i < ports + lane().switch_port_count ? lane().next[i - ports] : kNever;
    }
    SLUICE_HD std::uint32_t block_count() const {
        return blocks_of(lane().host_count) + blocks_of(lane().switch_port_count);
    }

    SLUICE_HD Tick earliest() const {
        Tick at = kNever;
        share(block_count(), [&](std::uint32_t block) {
            Tick& next = lane().block_next[block];
            if (lane().outdated[block] != 0) {
                lane().outdated[block] = 0;
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
        const std::uint32_t ports = blocks_of(lane().host_count) * kBlock;
        share(block_count(), [&](std::uint32_t block) {
            if (lane().block_next[block] >= end_) {
                return;
            }
            for (std::uint32_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
                if (next_of(i) >= end_) {
                    continue;
                }
                if (i < ports) {
                    add_to(lane().active_hosts, i);
                    touch_host(lane(), lane().hosts[i]);
                } else {
                    list_port(i - ports);
                }
            }
        });
    }

    SLUICE_HD void list_port(std::uint32_t i) {
        const PortId port = lane().switch_ports[i];
        const NodeId node = lane().node_of[port];
        add_to(lane().active_ports, i);
        touch_port(lane(), plan_of(lane(), port));
        if (claim_shared(lane().switch_plan[node].active)) {
            add_to(lane().awake, node);
        }
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool plan() {
        bool there = true;
        share(lane().active_hosts, [&](std::uint32_t i) {
            const NodeId host = lane().hosts[i];
            if (world().wake[host] < end_) {
                there = step_host(host) && there;
            }
        });
        SwitchWindow<Policies> window(lane(), world(), begin_, end_);
        share(lane().active_ports,
              [&](std::uint32_t i) { there = window.plan_port(lane().switch_ports[i]) && there; });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool step_host(NodeId host) {
        PlainVector<step::Call>& calls = lane().host_plan[host].calls;
        const bool called = calls.count > 0;
        step::host_step<LaneEvents>(world(), step::whole_node(host), end_);
        if (!called && calls.count > 0) {
            add_to(lane().callers, host);
        }
        for (PortId p = world().first_port[host]; p < world().first_port[host + 1]; ++p) {
            touch_receiver(lane(), world(), p);
        }
        return world().wake[host] >= end_;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool decide() {
        bool there = true;
        SwitchWindow<Policies> window(lane(), world(), begin_, end_);
        share(lane().awake, [&](NodeId node) {
            SwitchPlan& plan = lane().switch_plan[node];
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
        SwitchWindow<Policies> window(lane(), world(), begin_, end_);
        share(lane().leaving, [&](std::uint32_t i) {
            const PortId port = lane().switch_ports[i];
            const NodeId node = lane().node_of[port];
            PortPlan& plan = plan_of(lane(), port);
            if (lane().switch_plan[node].mode == SwitchMode::quiet && !plan.pulled) {
                plan.pulled = window.pull_port(node, port, plan);
                there = there && plan.pulled;
            }
        });
        return there;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD bool gather() {
        bool there = true;
        share(lane().touched_hosts, [&](std::uint32_t i) {
            const NodeId host = lane().hosts[i];
            for (PortId p = world().first_port[host]; p < world().first_port[host + 1]; ++p) {
                there = take_outbox(world(), p) && there;
                step::wake_cell(world(), host, world().link[p].arrival);
            }
            there = take_calls(lane(), world(), host) && there;
            outdate_host(lane(), i);
        });
        share(lane().touched_ports, [&](std::uint32_t i) { there = gather_port(i) && there; });
        return there;
    }

    SLUICE_HD bool gather_port(std::uint32_t i) {
        const PortId port = lane().switch_ports[i];
        PortPlan& plan = plan_of(lane(), port);
        step::Wire& link = world().link[port];
        if (plan.planned) {
            link.head = plan.head;
            link.arrival = step::next_arrival(link);
            plan.arrivals.count = 0;
            plan.planned = false;
        }
        plan.pulled = false;
        const bool there = take_outbox(world(), port);
        lane().next[i] = link.arrival < link.decision ? link.arrival : link.decision;
        outdate_port(lane(), i);
        return there;
    }

    SLUICE_HD Gang& gang() const {
        is_in_shared_memory(gang_);
        return gang_;
    }
    Gang& gang_;
    Stage stage_;
    Tick begin_ = 0;
    Tick end_ = 0;
    std::uint64_t done_ = 0;
    bool full_ = false;
};

}  // namespace sluice::gpu
