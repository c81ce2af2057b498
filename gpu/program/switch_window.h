// SPDX-License-Identifier: Apache-2.0
/// What a switch does in a lane's window, by its ports at once or whole. Each function is one thread's work on
/// one thing, and is complete or leaves it as it was: false means that memory is missing.
#pragma once

#include "core/memory_space.h"
#include "core/packet/switch.h"
#include "gpu/program/lists.h"

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

/// Arrivals at a switch as its ingress ports have listed them: where they leave is not counted yet.
struct PlannedArrivals {
    const PortPlan* plan;  ///< of the switch's first port
    std::int64_t arriving;
    SLUICE_HD std::uint32_t bytes(std::uint32_t in) const {
        return plan[in].planned ? plan[in].bytes : 0;
    }
    SLUICE_HD bool may_leave_by(std::uint32_t) const { return arriving != 0; }
};

template <class Policies>
class SwitchWindow : OnLane {
  public:
    /// [begin, end)
    SLUICE_HD SwitchWindow(Lane& lane, step::World& world, Tick begin, Tick end)
        : OnLane(lane, world), begin_(begin), end_(end) {}

    /// Routes and lists what arrives at a switch's port, and by which ports it leaves.
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool plan_port(PortId port) {
        PortPlan& plan = plan_of(lane(), port);
        step::Wire& link = world().link[port];
        if (link.decision < end_) {
            list_leaving(lane(), plan);
        }
        if (plan.planned || link.arrival >= end_) {
            return true;
        }
        std::uint32_t count = 0;
        while (link.head + count != link.tail &&
               link.at(link.head + count).time + link.base < end_) {
            ++count;
        }
        if (!plan.arrivals.reserve(world().memory, count)) {
            return false;
        }
        const NodeId node = lane().node_of[port];
        const PortId first = world().first_port[node];
        PlanList list{plan};
        const step::PortArrivals arrivals = step::route_arrivals<ManyCount>(
            world(), step::whole_node(node), all_ports(node), port - first, begin_, end_, list);
        plan.bytes = arrivals.bytes;
        plan.head = arrivals.head;
        plan.planned = true;
        const std::uint32_t place = add_shared(lane().switch_plan[node].arrived, 1);
        lane().arrived[first + place] = static_cast<std::uint16_t>(port - first);
        std::uint64_t outs = 0;
        std::uint32_t last = kNone;
        for (std::uint32_t k = 0; k < plan.arrivals.count; ++k) {
            const std::uint32_t out = plan.arrivals[k].out;
            if (out != last) {
                list_leaving(lane(), plan_of(lane(), first + out));
                outs |= out_bit(out);
                last = out;
            }
        }
        plan.outs = outs;
        return true;
    }

    /// No decision of the window can depend on the shared buffer. A quiet window may be taken for one that is
    /// not, with the same results: see PlannedArrivals.
    SLUICE_HD bool is_quiet(NodeId node) const {
        const PortId first = world().first_port[node];
        const step::SomePorts arrived{lane().switch_plan[node].arrived, lane().arrived + first};
        PlannedArrivals arrivals{&plan_of(lane(), first), 0};
        for (std::uint32_t a = 0; a < arrived.count; ++a) {
            arrivals.arriving += arrivals.bytes(arrived[a]);
        }
        const step::Cell cell = step::whole_node(node);
        // Under PFC only ports by which something comes are asked.
        return world().pfc ? step::quiet_window<Policies>(world(), cell, arrived, arrivals.arriving,
                                                          arrivals)
                           : step::quiet_window<Policies>(world(), cell, all_ports(node),
                                                          arrivals.arriving, arrivals);
    }

    /// Steps a switch by this thread alone.
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool step_whole(NodeId node, SwitchPlan& plan) {
        is_in_global_memory(plan);
        const PortId first = world().first_port[node];
        const PortId last = world().first_port[node + 1];
        std::uint32_t total = 0;
        for (PortId p = first; p < last; ++p) {
            total += planned(p);
        }
        if (!plan.keys.reserve(world().memory, total) ||
            !plan.merge.reserve(world().memory, total) || !room_to_step(node)) {
            return false;
        }
        plan.keys.count = total;
        total = 0;
        for (PortId p = first; p < last; ++p) {
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                plan.keys[total++] = plan_of(lane(), p).arrivals[k].key;
            }
        }
        step::sort_runs(plan.keys.data, total, plan.merge.data);
        step::run_interleaved<Policies>(world(), plan.keys.data, total, step::whole_node(node),
                                        all_ports(node), begin_, end_);
        for (PortId p = first; p < last; ++p) {
            touch_port(lane(), plan_of(lane(), p));
            touch_receiver(lane(), world(), p);
        }
        return true;
    }

    /// Takes what leaves by a quiet switch's port out of the ingress ports' lists, and works it off.
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool pull_port(NodeId node, PortId port, PortPlan& plan) {
        is_in_global_memory(plan);
        const PortId first = world().first_port[node];
        const std::uint32_t self = port - first;
        plan.keys.count = 0;
        for (std::uint32_t a = 0; a < lane().switch_plan[node].arrived; ++a) {
            const PortId p = first + lane().arrived[first + a];
            const PortPlan& from = plan_of(lane(), p);
            if ((from.outs & out_bit(self)) == 0) {
                continue;
            }
            step::Wire& link = world().link[p];
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                const Planned arrival = from.arrivals[k];
                if (arrival.out != self) {
                    continue;
                }
                if (!plan.keys.push(world().memory, arrival.key)) {
                    return forget_coming(plan);
                }
                const step::Packet& packet = link.at(link.head + step::key_position(arrival.key));
                if (packet.packet_kind() < step::PacketKind::pause) {
                    ++plan.coming[step::switch_queue(world(), packet)];
                }
            }
        }
        const std::uint32_t count = plan.keys.count;
        if (count == 0 && world().link[port].decision >= end_) {
            return true;
        }
        if (!plan.merge.reserve(world().memory, count)) {
            return forget_coming(plan);
        }
        if (!room_for_coming(port)) {
            return false;
        }
        step::sort_runs(plan.keys.data, count, plan.merge.data);
        step::run_port<Policies, ManyCount>(world(), step::whole_node(node), port, plan.keys.data,
                                            count, begin_, end_);
        touch_port(lane(), plan);
        touch_receiver(lane(), world(), port);
        return true;
    }

  private:
    /// Room in all queues and outboxes of a switch for whatever it does with what has arrived.
    SLUICE_HD bool room_to_step(NodeId node) {
        const PortId first = world().first_port[node];
        const PortId last = world().first_port[node + 1];
        for (PortId p = first; p < last; ++p) {
            step::Wire& link = world().link[p];
            for (std::uint32_t k = 0, count = planned(p); k < count; ++k) {
                const Planned& arrival = plan_of(lane(), p).arrivals[k];
                const step::Packet& packet = link.at(link.head + step::key_position(arrival.key));
                if (packet.packet_kind() < step::PacketKind::pause) {
                    PortPlan& out = plan_of(lane(), first + arrival.out);
                    ++out.coming[step::switch_queue(world(), packet)];
                }
            }
        }
        bool there = true;
        for (PortId p = first; p < last; ++p) {
            PortPlan& plan = plan_of(lane(), p);
            plan.coming[0] += kFramesOfAnArrival * planned(p) + step::kClasses;
            there = room_for_coming(p) && there;
        }
        return there;
    }

    /// Room for what PortPlan::coming says, which is none afterwards.
    SLUICE_HD bool room_for_coming(PortId port) {
        PortPlan& plan = plan_of(lane(), port);
        step::Egress& egress = world().egress[port];
        std::uint32_t leaving = 0;
        bool there = true;
        for (int queue = 0; queue < step::kClasses; ++queue) {
            step::Ring& ring = egress.queue[queue];
            leaving += ring.size() + plan.coming[queue];
            there = (plan.coming[queue] == 0 || ring.reserve(world().memory, plan.coming[queue])) &&
                    there;
            plan.coming[queue] = 0;
        }
        return world().link[egress.out].reserve(world().memory, most_in_window(egress, leaving)) &&
               there;
    }

    /// Packets that a port can send in a window, of `leaving` at most.
    SLUICE_HD std::uint32_t most_in_window(const step::Egress& egress,
                                           std::uint32_t leaving) const {
        const std::int64_t shortest = egress.serialization[world().config->format.pause];
        const std::int64_t most = (end_ - begin_) / (shortest > 0 ? shortest : 1) + 1;
        return most < leaving ? static_cast<std::uint32_t>(most) : leaving;
    }

    SLUICE_HD static std::uint64_t out_bit(std::uint32_t out) {
        return std::uint64_t{1} << (out & 63U);
    }

    SLUICE_HD static bool forget_coming(PortPlan& plan) {
        for (std::uint32_t& coming : plan.coming) {
            coming = 0;
        }
        return false;
    }

    SLUICE_HD std::uint32_t planned(PortId port) const {
        const PortPlan& plan = plan_of(lane(), port);
        return plan.planned ? plan.arrivals.count : 0;
    }

    SLUICE_HD step::AllPorts all_ports(NodeId node) const {
        return step::AllPorts{world().first_port[node + 1] - world().first_port[node]};
    }

    Tick begin_;
    Tick end_;
};

}  // namespace sluice::gpu
