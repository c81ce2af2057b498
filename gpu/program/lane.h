// SPDX-License-Identifier: Apache-2.0
/// A lane: one experiment's network in one block of memory, as a device's program sees it. All of it is plain
/// data; pointers point into the lane's arena. Whoever builds a lane (gpu/lane/image.h) owns the arena.
#pragma once

#include "core/job/job_state.h"
#include "core/packet/state.h"

namespace sluice::gpu {

/// What a lane is to do next in the window [begin, end). Every stage may be entered again after a lane was
/// stopped in it for want of memory: what is done is not done twice.
enum class Stage : std::uint8_t {
    choose,  ///< the next window
    plan,    ///< hosts step; what arrives at switches is routed
    decide,  ///< is the window quiet at a switch? If not, the switch steps whole
    pull,    ///< ports of quiet switches take what is for them, and send
    gather,  ///< ports take what was sent to them
};

enum class Outcome : std::uint8_t {
    running,
    paused,   ///< after as many windows as were asked for
    reached,  ///< nothing is left to do before Lane::until
    full,  ///< the arena has no room for what is to be done next; more memory, and the lane goes on
};

/// A packet that arrives at a switch in the window.
struct Planned {
    std::uint64_t key = 0;  ///< core/packet/order.h
    std::uint32_t out = 0;  ///< local index of its egress port
};

/// What a switch's port keeps of a window, as ingress and as egress.
struct alignas(64) PortPlan {
    PlainVector<Planned> arrivals;    ///< by this port, in order
    PlainVector<std::uint64_t> keys;  ///< of what leaves by this port
    PlainVector<std::uint64_t> merge;
    std::uint32_t coming[step::kClasses] =
        {};                   ///< packets for a queue, while its room is asked for
    std::uint32_t bytes = 0;  ///< arrived
    std::uint32_t head = 0;   ///< of the link, after the window
    bool planned = false;
    bool pulled = false;
};

/// What a switch does in a window.
enum class SwitchMode : std::uint8_t { open, idle, quiet, done };

struct alignas(64) SwitchPlan {
    PlainVector<std::uint64_t> keys;  ///< of all arrivals, where the window is not quiet
    PlainVector<std::uint64_t> merge;
    std::uint32_t active = 0;   ///< a port has something to do
    std::uint32_t arrived = 0;  ///< ports by which something has arrived: so many of Lane::arrived
    SwitchMode mode = SwitchMode::open;
};

struct alignas(64) HostPlan {
    PlainVector<step::Call> calls;  ///< timers for other hosts, set in the window
    bool called = false;            ///< has taken what others have set for it
};

struct Lane {
    /// The columns; counters are sums over the threads that have left the lane.
    step::World world;
    Arena arena;

    std::uint32_t host_count = 0;
    std::uint32_t switch_count = 0;
    std::uint32_t switch_port_count = 0;
    const NodeId* hosts = nullptr;
    const NodeId* switches = nullptr;
    const PortId* switch_ports = nullptr;  ///< of all switches, ascending
    const NodeId* node_of = nullptr;       ///< by port
    PortPlan* port_plan = nullptr;         ///< by port
    /// From a switch's first port on: ports that are PortPlan::planned, local indices in any order.
    std::uint16_t* arrived = nullptr;
    SwitchPlan* switch_plan = nullptr;  ///< by node
    HostPlan* host_plan = nullptr;      ///< by node
    Tick* next = nullptr;               ///< by switch port: its next arrival or decision

    std::uint32_t job_count = 0;
    const job::Job* jobs = nullptr;
    const std::uint32_t* job_at = nullptr;  ///< by node, kNone: no job's; null without jobs
    NodeId* callers = nullptr;              ///< hosts with calls in this window, in any order
    std::uint32_t caller_count = 0;
    std::uint32_t fault = 0;  ///< a job has given back what it does not hold

    Stage stage = Stage::choose;
    Tick begin = 0;  ///< of the window
    Tick end = 0;
    Tick until = kNever;  ///< nothing at or after it is executed
    std::uint64_t windows = 0;
};

/// The outbox in which packets for the receiving port `port` wait for the window's end.
SLUICE_HD inline PortId outbox_of(const step::World& world, PortId port) {
    return world.first_outbox + port;
}

}  // namespace sluice::gpu
