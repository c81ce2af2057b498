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
#include "gpu/program/lane_events.h"

namespace sluice::gpu {

/// PFC frames that a switch may send by a port in a window for each packet that arrives there: a pause, and a
/// resume when it leaves.
inline constexpr std::uint32_t kFramesOfAnArrival = 2;

/// Lists the arrivals of an ingress port.
struct PlanList {
    PortPlan& plan;
    SLUICE_HD void add(step::World& world, std::uint32_t out, std::uint64_t key) {
        plan.arrivals.push(world.memory, Planned{key, out});
    }
};

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
            bool full = false;
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
                case Stage::plan:
                    full = !plan();
                    next(full, Stage::decide);
                    break;
                case Stage::decide:
                    full = !decide();
                    next(full, Stage::pull);
                    break;
                case Stage::pull:
                    full = !pull();
                    next(full, Stage::gather);
                    break;
                case Stage::gather:
                    full = !gather();
                    next(full, Stage::choose);
                    break;
            }
            if (full_) {
                return leave(Outcome::full);
            }
        }
    }

  private:
    /// The barrier after a system; all threads know whether one of them found no memory.
    SLUICE_HD void next(bool full, Stage stage) {
        full_ = gang_.any(full);
        stage_ = full_ ? stage_ : stage;
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

    /// What the window before has delivered.
    SLUICE_HD void forget_calls() {
        const std::uint32_t callers = lane_.caller_count;
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; callers > 0 && (i = gang_.item(k, lane_.host_count)) < lane_.host_count; ++k) {
            HostPlan& plan = lane_.host_plan[lane_.hosts[i]];
            plan.calls.count = 0;
            plan.called = false;
        }
        if (callers > 0) {
            gang_.any(false);
            if (gang_.first()) {
                lane_.caller_count = 0;
            }
        }
    }

    SLUICE_HD Tick earliest() const {
        Tick at = kNever;
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; (i = gang_.item(k, lane_.host_count)) < lane_.host_count; ++k) {
            const Tick wake = world_.wake[lane_.hosts[i]];
            at = wake < at ? wake : at;
        }
        const std::uint32_t ports = lane_.switch_port_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, ports)) < ports; ++k) {
            at = lane_.next[i] < at ? lane_.next[i] : at;
        }
        return at;
    }

    SLUICE_HD bool plan() {
        bool there = true;
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; (i = gang_.item(k, lane_.host_count)) < lane_.host_count; ++k) {
            const NodeId host = lane_.hosts[i];
            if (world_.wake[host] < end_) {
                there = step_host(host) && there;
            }
        }
        const std::uint32_t ports = lane_.switch_port_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, ports)) < ports; ++k) {
            const PortId port = lane_.switch_ports[i];
            if (lane_.next[i] < end_) {
                set_shared(lane_.switch_plan[lane_.node_of[port]].active, 1);
                there = plan_port(port) && there;
            }
        }
        return there;
    }

    SLUICE_APART SLUICE_HD bool step_host(NodeId host) {
        PlainVector<step::Call>& calls = lane_.host_plan[host].calls;
        const bool called = calls.count > 0;
        step::host_step<LaneEvents>(world_, step::whole_node(host), end_);
        if (!called && calls.count > 0) {
            lane_.callers[add_shared(lane_.caller_count, 1)] = host;
        }
        return world_.wake[host] >= end_;
    }

    /// Routes and lists what arrives at a switch's port.
    SLUICE_APART SLUICE_HD bool plan_port(PortId port) {
        PortPlan& plan = lane_.port_plan[port];
        step::Wire& link = world_.link[port];
        if (plan.planned || link.arrival >= end_) {
            return true;
        }
        std::uint32_t count = 0;
        while (link.head + count != link.tail && link.at(link.head + count).time + link.base < end_) {
            ++count;
        }
        if (!plan.arrivals.reserve(world_.memory, count)) {
            return false;
        }
        const NodeId node = lane_.node_of[port];
        const PortId first = world_.first_port[node];
        PlanList list{plan};
        const step::PortArrivals arrivals = step::route_arrivals<ManyCount>(
            world_, step::whole_node(node), all_ports(node), port - first, begin_, end_, list);
        plan.bytes = arrivals.bytes;
        plan.head = arrivals.head;
        plan.planned = true;
        return true;
    }

    SLUICE_HD bool decide() {
        bool there = true;
        std::uint32_t i = 0;
        const std::uint32_t switches = lane_.switch_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, switches)) < switches; ++k) {
            const NodeId node = lane_.switches[i];
            SwitchPlan& plan = lane_.switch_plan[node];
            if (plan.mode != SwitchMode::open) {
                continue;
            }
            if (plan.active == 0) {
                plan.mode = SwitchMode::idle;
            } else if (is_quiet(node)) {
                plan.mode = SwitchMode::quiet;
            } else if (step_whole(node, plan)) {
                plan.mode = SwitchMode::done;
            } else {
                there = false;
            }
        }
        return there;
    }

    /// step::quiet_window() as seen by ingress ports: without PFC it looks at every egress port, for which
    /// of them something has come is not known yet. That may call a quiet window unquiet, with the same
    /// results.
    SLUICE_HD bool is_quiet(NodeId node) const {
        const step::Buffer& buffer = world_.buffer[node];
        if (!Policies::kQuietWindows || buffer.paused_classes != 0) {
            return false;
        }
        const PortId first = world_.first_port[node];
        const PortId last = world_.first_port[node + 1];
        std::int64_t arriving = 0;
        for (PortId p = first; p < last; ++p) {
            arriving += lane_.port_plan[p].planned ? lane_.port_plan[p].bytes : 0;
        }
        const std::int64_t left = buffer.shared_size - buffer.shared_used - arriving;
        if (left < 0) {
            return false;
        }
        for (PortId p = first; p < last; ++p) {
            const PortPlan& plan = lane_.port_plan[p];
            if (world_.pfc && plan.planned && plan.bytes != 0) {
                const step::Ingress& ingress = world_.ingress[p];
                const std::int64_t above = static_cast<std::int64_t>(ingress.total_bytes) +
                                           plan.bytes - buffer.reserve;
                if (!step::ingress_is_free<Policies>(world_, ingress, above, left)) {
                    return false;
                }
            }
            if (!world_.pfc && arriving != 0 &&
                !step::egress_is_free<Policies>(
                    world_, world_.egress[p].queued_bytes + arriving, left)) {
                return false;
            }
        }
        return true;
    }

    /// Steps a switch by this thread alone.
    SLUICE_APART SLUICE_HD bool step_whole(NodeId node, SwitchPlan& plan) {
        const PortId first = world_.first_port[node];
        const PortId last = world_.first_port[node + 1];
        std::uint32_t total = 0;
        for (PortId p = first; p < last; ++p) {
            total += planned(p);
        }
        if (!plan.keys.reserve(world_.memory, total) || !plan.merge.reserve(world_.memory, total) ||
            !room_to_step(node)) {
            return false;
        }
        plan.keys.count = total;
        total = 0;
        for (PortId p = first; p < last; ++p) {
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                plan.keys[total++] = lane_.port_plan[p].arrivals[k].key;
            }
        }
        step::sort_runs(plan.keys.data, total, plan.merge.data);
        step::run_interleaved<Policies>(world_, plan.keys.data, total, step::whole_node(node),
                                        all_ports(node), begin_, end_);
        return true;
    }

    /// Room in all queues and outboxes of a switch for whatever it does with what has arrived.
    SLUICE_HD bool room_to_step(NodeId node) {
        const PortId first = world_.first_port[node];
        const PortId last = world_.first_port[node + 1];
        for (PortId p = first; p < last; ++p) {
            step::Wire& link = world_.link[p];
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                const Planned& arrival = lane_.port_plan[p].arrivals[k];
                const step::Packet& packet = link.at(link.head + step::key_position(arrival.key));
                if (packet.packet_kind() < step::PacketKind::pause) {
                    PortPlan& out = lane_.port_plan[first + arrival.out];
                    ++out.coming[step::switch_queue(world_, packet)];
                }
            }
        }
        bool there = true;
        for (PortId p = first; p < last; ++p) {
            PortPlan& plan = lane_.port_plan[p];
            plan.coming[0] += kFramesOfAnArrival * planned(p) + step::kClasses;
            there = room_for_coming(p) && there;
        }
        return there;
    }

    /// Room for what PortPlan::coming says, which is none afterwards.
    SLUICE_HD bool room_for_coming(PortId port) {
        PortPlan& plan = lane_.port_plan[port];
        step::Egress& egress = world_.egress[port];
        std::uint32_t leaving = 0;
        bool there = true;
        for (int queue = 0; queue < step::kClasses; ++queue) {
            step::Ring& ring = egress.queue[queue];
            leaving += ring.size() + plan.coming[queue];
            there = (plan.coming[queue] == 0 || ring.reserve(world_.memory, plan.coming[queue])) &&
                    there;
            plan.coming[queue] = 0;
        }
        return world_.link[egress.out].reserve(world_.memory, most_in_window(egress, leaving)) &&
               there;
    }

    /// Packets that a port can send in a window, of `leaving` at most.
    SLUICE_HD std::uint32_t most_in_window(const step::Egress& egress,
                                           std::uint32_t leaving) const {
        const std::int64_t shortest = egress.serialization[world_.config->format.pause];
        const std::int64_t most = (end_ - begin_) / (shortest > 0 ? shortest : 1) + 1;
        return most < leaving ? static_cast<std::uint32_t>(most) : leaving;
    }

    SLUICE_HD bool pull() {
        bool there = true;
        std::uint32_t i = 0;
        const std::uint32_t ports = lane_.switch_port_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, ports)) < ports; ++k) {
            const PortId port = lane_.switch_ports[i];
            const NodeId node = lane_.node_of[port];
            PortPlan& plan = lane_.port_plan[port];
            if (lane_.switch_plan[node].mode == SwitchMode::quiet && !plan.pulled) {
                plan.pulled = pull_port(node, port, plan);
                there = there && plan.pulled;
            }
        }
        return there;
    }

    SLUICE_APART SLUICE_HD bool pull_port(NodeId node, PortId port, PortPlan& plan) {
        const PortId first = world_.first_port[node];
        const PortId last = world_.first_port[node + 1];
        const std::uint32_t self = port - first;
        plan.keys.count = 0;
        for (PortId p = first; p < last; ++p) {
            step::Wire& link = world_.link[p];
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                const Planned& arrival = lane_.port_plan[p].arrivals[k];
                if (arrival.out != self) {
                    continue;
                }
                if (!plan.keys.push(world_.memory, arrival.key)) {
                    return forget_coming(plan);
                }
                const step::Packet& packet = link.at(link.head + step::key_position(arrival.key));
                if (packet.packet_kind() < step::PacketKind::pause) {
                    ++plan.coming[step::switch_queue(world_, packet)];
                }
            }
        }
        const std::uint32_t count = plan.keys.count;
        if (count == 0 && world_.link[port].decision >= end_) {
            return true;
        }
        if (!plan.merge.reserve(world_.memory, count)) {
            return forget_coming(plan);
        }
        if (!room_for_coming(port)) {
            return false;
        }
        step::sort_runs(plan.keys.data, count, plan.merge.data);
        step::run_port<Policies, ManyCount>(world_, step::whole_node(node), port, plan.keys.data,
                                            count, begin_, end_);
        return true;
    }

    SLUICE_HD static bool forget_coming(PortPlan& plan) {
        for (std::uint32_t& coming : plan.coming) {
            coming = 0;
        }
        return false;
    }

    SLUICE_HD bool gather() {
        bool there = true;
        std::uint32_t i = 0;
        for (std::uint32_t k = 0; (i = gang_.item(k, lane_.host_count)) < lane_.host_count; ++k) {
            const NodeId host = lane_.hosts[i];
            for (PortId p = world_.first_port[host]; p < world_.first_port[host + 1]; ++p) {
                there = take_outbox(p) && there;
                step::wake_cell(world_, host, world_.link[p].arrival);
            }
            there = take_calls(host) && there;
        }
        const std::uint32_t ports = lane_.switch_port_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, ports)) < ports; ++k) {
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
            there = take_outbox(port) && there;
            lane_.next[i] = link.arrival < link.decision ? link.arrival : link.decision;
        }
        const std::uint32_t switches = lane_.switch_count;
        for (std::uint32_t k = 0; (i = gang_.item(k, switches)) < switches; ++k) {
            SwitchPlan& plan = lane_.switch_plan[lane_.switches[i]];
            plan.active = 0;
            plan.mode = SwitchMode::open;
        }
        return there;
    }

    /// Sets the timers that others have for `host`.
    SLUICE_APART SLUICE_HD bool take_calls(NodeId host) {
        HostPlan& plan = lane_.host_plan[host];
        if (lane_.caller_count == 0 || plan.called) {
            return true;
        }
        std::uint32_t count = 0;
        for (std::uint32_t c = 0; c < lane_.caller_count; ++c) {
            const PlainVector<step::Call>& calls = lane_.host_plan[lane_.callers[c]].calls;
            for (std::uint32_t k = 0; k < calls.count; ++k) {
                count += calls[k].host == host ? 1 : 0;
            }
        }
        PlainVector<step::Timer>& timers = world_.host[host].timers;
        if (count > 0 && !timers.reserve(world_.memory, timers.count + count)) {
            return false;
        }
        for (std::uint32_t c = 0; count > 0 && c < lane_.caller_count; ++c) {
            const PlainVector<step::Call>& calls = lane_.host_plan[lane_.callers[c]].calls;
            for (std::uint32_t k = 0; k < calls.count; ++k) {
                if (calls[k].host == host) {
                    step::schedule(world_, host, calls[k].timer);
                }
            }
        }
        plan.called = true;
        return true;
    }

    SLUICE_APART SLUICE_HD bool take_outbox(PortId port) {
        step::Wire& box = world_.link[outbox_of(world_, port)];
        step::Wire& link = world_.link[port];
        const std::uint32_t count = box.size();
        if (count == 0) {
            return true;
        }
        if (!link.reserve(world_.memory, count)) {
            return false;
        }
        for (; box.head != box.tail; box.pop()) {
            link.push(world_.memory, box.front());
        }
        box.head = 0;
        box.tail = 0;
        link.arrival = step::next_arrival(link);
        return true;
    }

    SLUICE_HD std::uint32_t planned(PortId port) const {
        const PortPlan& plan = lane_.port_plan[port];
        return plan.planned ? plan.arrivals.count : 0;
    }

    SLUICE_HD step::AllPorts all_ports(NodeId node) const {
        return step::AllPorts{world_.first_port[node + 1] - world_.first_port[node]};
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
