// SPDX-License-Identifier: Apache-2.0
/// A host's step in a lane (step::CallbackEvents has the duties): memory is asked for before anything is
/// executed, so that a host that finds none stands at an instant before which all is done and after which
/// nothing is.
#pragma once

#include "core/memory_space.h"
#include "core/packet/nic.h"
#include "gpu/program/lane_job.h"

namespace sluice::gpu {

/// More than any one event of a host's puts into its heap, jobs aside: a turn passed on, and timers of two
/// senders.
inline constexpr std::uint32_t kTimersOfAnEvent = 4;

struct LaneEvents {
    SLUICE_HD static bool has_room(step::World& world, NodeId node) {
        step::Host& host = world.host[node];
        Memory& memory = world.memory;
        bool there = host.timers.reserve(memory, host.timers.count + kTimersOfAnEvent);
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            step::Egress& egress = world.egress[p];
            there = there && egress.queue[0].reserve(memory, 1) &&
                    world.link[egress.out].reserve(memory, 1);
        }
        return there && has_room_for_parts(world, node);
    }

    SLUICE_HD static bool has_room_for_flow(step::World& world, NodeId node, FlowSlot flow) {
        step::Host& host = world.host[node];
        Memory& memory = world.memory;
        bool there =
            host.free_senders.count > 0 || host.senders.reserve(memory, host.senders.count + 1);
        there = there && host.free_senders.reserve(memory, host.senders.capacity);
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            step::HostPort& port = world.host_port[p];
            there = there && port.sender.reserve(memory, port.sender.count + 1) &&
                    port.ready.reserve(memory, port.ready.count + 1);
        }
        return there && has_int_slots(world, host, flow);
    }

    /// The host's job has what it could not do for want of memory done now. False: not yet.
    SLUICE_DEVICE_NOINLINE SLUICE_HD static bool resume(step::World& world, NodeId node) {
        is_in_shared_memory(world);
        const Lane& lane = lane_of(world);
        const job::RankState* const state = rank_state(lane, node);
        if (state == nullptr || state->stuck_at == kNever) {
            return true;
        }
        const RankId rank = job::rank_at(lane.jobs[lane.job_at[node]], node);
        at_job(world, node, [&](auto& step) { step.resume(rank); });
        return state->stuck_at == kNever;
    }
    SLUICE_HD static bool is_stuck(const step::World& world, NodeId node) {
        const job::RankState* const state = rank_state(lane_of(world), node);
        return state != nullptr && state->stuck_at != kNever;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD static void received(step::World& world, NodeId node,
                                                          FlowSlot flow, Tick now) {
        is_in_shared_memory(world);
        at_job(world, node, [&](auto& step) { step.received(node, flow, now); });
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD static void sent(step::World& world, NodeId node,
                                                      FlowSlot flow, Tick now) {
        is_in_shared_memory(world);
        // Nothing is left of a flow that sent nothing twice and whose packets kept their order.
        if (world.result[flow].retransmitted == 0 && !step::is_sprayed(world, flow) &&
            !world.links_changed) {
            step::return_int_slots(world, world.host[node], flow);
        }
        at_job(world, node, [&](auto& step) { step.sent(node, flow, now); });
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD static void timer(step::World& world, NodeId node,
                                                       std::uint64_t token, Tick now) {
        is_in_shared_memory(world);
        at_job(world, node, [&](auto& step) {
            if ((token & job::kStart) != 0) {
                step.begin(node, now);
            } else {
                step.timer(node, token & job::kOwnToken, now);
            }
        });
    }

  private:
    /// Should the host's first timer complete a meeting, all its parts are told.
    SLUICE_HD static bool has_room_for_parts(step::World& world, NodeId node) {
        Lane& lane = lane_of(world);
        const step::Host& host = world.host[node];
        if (lane.job_count == 0 || lane.job_at[node] == kNone || host.timers.count == 0 ||
            host.timers[0].kind != step::TimerKind::application ||
            (host.timers[0].id & job::kPresent) == 0) {
            return true;
        }
        const job::Job& job = lane.jobs[lane.job_at[node]];
        const auto op = static_cast<OpId>(host.timers[0].id & (job::kPresent - 1));
        LaneServices services(lane, world, node, lane.job_at[node]);
        return services.room(job.meeting[job.target[op]].parts);
    }

    /// Sees to it that take_int_slots() finds a free block.
    SLUICE_HD static bool has_int_slots(step::World& world, step::Host& host, FlowSlot flow) {
        if (world.int_block == 0) {
            return true;
        }
        const std::int64_t packets = (world.spec[flow].size + world.payload - 1) / world.payload;
        const std::uint32_t size_class =
            step::int_size_class(world, static_cast<std::uint32_t>(packets));
        while (host.free_ints.count <= size_class) {
            if (!host.free_ints.push(world.memory, step::IntBlock{})) {
                return false;
            }
        }
        step::IntBlock& free = host.free_ints[size_class];
        if (free.empty()) {
            free = step::new_int_block(world.memory, size_class, world.int_stride);
        }
        return !free.empty();
    }
};

}  // namespace sluice::gpu
