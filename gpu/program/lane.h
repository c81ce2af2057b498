// SPDX-License-Identifier: Apache-2.0
/// A lane: one experiment's network in one block of memory, as a device's program sees it. All of it is plain
/// data; pointers point into the lane's arena. Whoever builds a lane (gpu/lane/image.h) owns the arena.
#pragma once

#include "core/job/job_state.h"
#include "core/memory_space.h"
#include "core/packet/state.h"

namespace sluice::gpu {

/// What a lane is to do next in the window [begin, end). Every stage may be entered again after a lane was
/// stopped in it for want of memory: what is done is not done twice.
enum class Stage : std::uint8_t {
    choose,  ///< the next window
    list,    ///< who has something to do in it
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
        {};                     ///< packets for a queue, while its room is asked for
    std::uint64_t outs = 0;     ///< where arrivals leave: bit of the port, modulo 64
    std::uint32_t bytes = 0;    ///< arrived
    std::uint32_t head = 0;     ///< of the link, after the window
    std::uint32_t place = 0;    ///< in Lane::switch_ports
    std::uint32_t leaves = 0;   ///< is in Lane::leaving
    std::uint32_t touched = 0;  ///< is in Lane::touched_ports
    bool planned = false;
    bool pulled = false;
};

/// What a switch does in a window.
enum class SwitchMode : std::uint8_t { open, quiet, done };

struct alignas(64) SwitchPlan {
    PlainVector<std::uint64_t> keys;  ///< of all arrivals, where the window is not quiet
    PlainVector<std::uint64_t> merge;
    std::uint32_t active = 0;   ///< is in Lane::awake
    std::uint32_t arrived = 0;  ///< ports by which something has arrived: so many of Lane::arrived
    SwitchMode mode = SwitchMode::open;
};

struct alignas(64) HostPlan {
    PlainVector<step::Call> calls;  ///< timers for other hosts, set in the window
    std::uint32_t place = 0;        ///< in Lane::hosts
    std::uint32_t touched = 0;      ///< is in Lane::touched_hosts
    bool called = false;            ///< has taken what others have set for it
};

/// What a window concerns, in any order: whoever comes first puts it there, and nobody asks where it is.
struct WindowList {
    Global<std::uint32_t> things = nullptr;
    std::uint32_t count = 0;
    SLUICE_HD std::uint32_t operator[](std::uint32_t i) const { return things[i]; }
};

/// Hosts, then switch ports are looked at by so many when the next window is looked for.
inline constexpr std::uint32_t kBlock = 32;
SLUICE_HD inline std::uint32_t blocks_of(std::uint32_t count) {
    return (count + kBlock - 1) / kBlock;
}

struct Lane {
    /// The columns; counters are sums over the threads that have left the lane.
    step::World world;
    Arena arena;

    std::uint32_t host_count = 0;
    std::uint32_t switch_count = 0;
    std::uint32_t switch_port_count = 0;
    Global<const NodeId> hosts = nullptr;
    Global<const NodeId> switches = nullptr;
    Global<const PortId> switch_ports = nullptr;  ///< of all switches, ascending
    Global<const NodeId> node_of = nullptr;       ///< by port
    PortId first_plan = 0;                        ///< no port before is a switch's
    Global<PortPlan> port_plan = nullptr;         ///< by port, from first_plan on
    /// From a switch's first port on: ports that are PortPlan::planned, local indices in any order.
    Global<std::uint16_t> arrived = nullptr;
    Global<SwitchPlan> switch_plan = nullptr;  ///< by node
    Global<HostPlan> host_plan = nullptr;      ///< by node
    Global<Tick> next = nullptr;               ///< by switch port: its next arrival or decision
    /// By block of hosts, then by block of switch ports: the least of their instants; unless it is out of date.
    Global<Tick> block_next = nullptr;
    Global<std::uint32_t> outdated = nullptr;

    // Of a window:
    WindowList active_hosts;   ///< step: places in `hosts`
    WindowList active_ports;   ///< something arrives or is decided: places in `switch_ports`
    WindowList awake;          ///< switches of these
    WindowList leaving;        ///< something may leave by them: places in `switch_ports`
    WindowList touched_hosts;  ///< something has been sent to them, or they have stepped
    WindowList touched_ports;  ///< the same; or something has left by them

    std::uint32_t job_count = 0;
    Global<const job::Job> jobs = nullptr;
    Global<const std::uint32_t> job_at = nullptr;  ///< by node, kNone: no job's; null without jobs
    WindowList callers;                            ///< hosts with calls in this window
    std::uint32_t fault = 0;                       ///< a job has given back what it does not hold

    Stage stage = Stage::choose;
    Tick begin = 0;  ///< of the window
    Tick end = 0;
    Tick until = kNever;  ///< nothing at or after it is executed
    std::uint64_t windows = 0;
};

SLUICE_HD inline PortPlan& plan_of(const Lane& lane, PortId switch_port) {
    return lane.port_plan[switch_port - lane.first_plan];
}

/// A part of the program that works on a lane.
class OnLane {
  protected:
    /// `world`: a copy of the lane's columns, this thread's own or its block's (step::counts_of()). On a device it is in shared
    /// memory.
    SLUICE_HD OnLane(Lane& lane, step::World& world) : lane_(lane), world_(world) {}

    SLUICE_HD Lane& lane() const {
        is_in_global_memory(lane_);
        return lane_;
    }
    SLUICE_HD step::World& world() const {
        is_in_shared_memory(world_);
        return world_;
    }

  private:
    Lane& lane_;
    step::World& world_;
};

/// The lane of a world that a gang steps.
SLUICE_HD inline Lane& lane_of(const step::World& world) {
    return *in_global_memory(static_cast<Lane*>(world.lane));
}

/// The outbox in which packets for the receiving port `port` wait for the window's end.
SLUICE_HD inline PortId outbox_of(const step::World& world, PortId port) {
    return world.first_outbox + port;
}

}  // namespace sluice::gpu
