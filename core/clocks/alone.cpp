// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/alone.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/clocks/cell_step.h"
#include "core/world/skip.h"

namespace sluice::step {

namespace {

/// What applications are told while the past is executed.
struct LateCall {
    NodeId host = kNone;
    FlowSlot flow = kNone;
    bool received = false;
};

/// Stands in for a world's callbacks, and makes the calls when the past is over.
class LateCalls {
  public:
    explicit LateCalls(World& world) : world_(world), original_(world.callbacks) {
        world.callbacks.late = this;
        if (original_.received != nullptr) {
            world.callbacks.received = &LateCalls::received;
        }
        if (original_.sent != nullptr) {
            world.callbacks.sent = &LateCalls::sent;
        }
    }
    ~LateCalls() {
        world_.callbacks.late = nullptr;
        world_.callbacks.received = original_.received;
        world_.callbacks.sent = original_.sent;
    }
    LateCalls(const LateCalls&) = delete;
    LateCalls& operator=(const LateCalls&) = delete;

    std::vector<LateCall> take() { return std::move(calls_); }

  private:
    static std::vector<LateCall>& of(World& world) {
        return static_cast<LateCalls*>(world.callbacks.late)->calls_;
    }
    static void received(World& world, NodeId host, FlowSlot flow, Tick /*now*/) {
        of(world).push_back({host, flow, true});
    }
    static void sent(World& world, NodeId host, FlowSlot flow, Tick /*now*/) {
        of(world).push_back({host, flow, false});
    }

    World& world_;
    Callbacks original_;
    std::vector<LateCall> calls_;
};

std::vector<Packet> take_all(Ring& ring) {
    std::vector<Packet> packets;
    for (; ring.head != ring.tail; ring.pop()) {
        packets.push_back(ring.front());
    }
    return packets;
}

void put_all(World& world, Ring& ring, const std::vector<Packet>& packets) {
    for (const Packet& packet : packets) {
        ring.push(world.memory, packet);
    }
}

/// What stands at a switch's port and on its link, put aside.
class PutAside {
  public:
    PutAside(World& world, PortId port, Tick from) : world_(world), port_(port) {
        Egress& egress = world.egress[port];
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            queues_[queue] = take_all(egress.queue[queue]);
            bytes_[queue] = std::exchange(egress.class_bytes[queue], 0U);
        }
        queued_ = std::exchange(egress.queued_bytes, 0U);
        nonempty_ = std::exchange(egress.nonempty, std::uint8_t{0});
        free_at_ = egress.free_at;
        egress.free_at = std::min(egress.free_at, from);
        world.link[port].decision = kNever;
        Wire& link = world.link[egress.peer];
        on_link_ = take_all(link);
        link.arrival = kNever;
    }

    /// Others first, wherever their order is not that of time.
    void put_back(Tick now) {
        Egress& egress = world_.egress[port_];
        for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
            const std::vector<Packet> newer = take_all(egress.queue[queue]);
            put_all(world_, egress.queue[queue], queues_[queue]);
            put_all(world_, egress.queue[queue], newer);
            egress.class_bytes[queue] += bytes_[queue];
        }
        egress.queued_bytes += queued_;
        egress.nonempty = static_cast<std::uint8_t>(egress.nonempty | nonempty_);
        egress.free_at = std::max(egress.free_at, free_at_);
        // The port may be busy for longer now, or a class paused.
        world_.link[port_].decision = egress.nonempty == 0 ? kNever : next_decision(egress, now);
        Wire& link = world_.link[egress.peer];
        std::vector<Packet> packets = std::move(on_link_);
        const std::vector<Packet> newer = take_all(link);
        packets.insert(packets.end(), newer.begin(), newer.end());
        // By index: std::stable_sort's buffer is not aligned as packets are.
        std::vector<std::uint32_t> order(packets.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return packets[a].time < packets[b].time;
        });
        std::vector<Packet> sorted;
        for (const std::uint32_t at : order) {
            sorted.push_back(packets[at]);
        }
        put_all(world_, link, sorted);
        link.arrival = next_arrival(link);
    }

    NodeId receiver(const Topology& topology) const {
        return topology.node_of(world_.egress[port_].peer);
    }

  private:
    World& world_;
    PortId port_;
    std::array<std::vector<Packet>, kClasses> queues_;
    std::array<std::uint32_t, kClasses> bytes_{};
    std::uint32_t queued_ = 0;
    std::uint8_t nonempty_ = 0;
    Tick free_at_ = 0;
    std::vector<Packet> on_link_;
};

std::vector<PutAside> put_aside(World& world, const std::vector<NodeId>& nodes, Tick from) {
    std::vector<PutAside> aside;
    for (const NodeId node : nodes) {
        for (PortId port = world.first_port[node];
             world.is_host[node] == 0 && port < world.first_port[node + 1]; ++port) {
            if (world.egress[port].nonempty != 0 || world.egress[port].free_at > from ||
                !world.link[world.egress[port].peer].empty()) {
                aside.emplace_back(world, port, from);
            }
        }
    }
    return aside;
}

}  // namespace

std::uint32_t run_alone(WorldStore& store, const std::vector<NodeId>& nodes, Tick from, Tick to) {
    World& world = store.world();
    std::vector<PutAside> aside = put_aside(world, nodes, from);
    std::vector<LateCall> late;
    {
        LateCalls calls(world);
        CellStep step(world);
        const auto next = [&] {
            Tick at = kNever;
            for (const NodeId node : nodes) {
                at = std::min(at, world.wake[node]);
            }
            return at;
        };
        for (Tick begin = next(); begin < to; begin = next()) {
            const Tick end = std::min(begin + world.lookahead, to);
            for (const NodeId node : nodes) {
                if (world.wake[node] < end) {
                    step(whole_node(node), begin, end);
                }
            }
        }
        late = calls.take();
    }
    for (PutAside& port : aside) {
        port.put_back(to);
        refresh_wake(world, port.receiver(store.topology()));
    }
    for (const NodeId node : nodes) {
        refresh_wake(world, node);
    }
    for (const LateCall& call : late) {
        const auto tell = call.received ? world.callbacks.received : world.callbacks.sent;
        tell(world, call.host, call.flow, to);
    }
    return static_cast<std::uint32_t>(late.size());
}

}  // namespace sluice::step
