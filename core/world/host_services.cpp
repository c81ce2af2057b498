// SPDX-License-Identifier: Apache-2.0
/// What an application is offered, and how a step reaches what runs on its hosts.
#include "core/world/world_store.h"

#include <string>

#include "core/error.h"
#include "core/packet/nic.h"
#include "core/packet/route_table.h"

namespace sluice::step {

/// What an application may do, bound to a host and an instant.
class WorldStore::Services : public HostServices {
  public:
    Services(World& world, NodeId host, Tick now)
        : store_(*static_cast<WorldStore*>(world.callbacks.context)),
          world_(world),
          host_(host),
          now_(now) {}

    FlowId open_flow(const FlowSpec& spec, Tick at) override {
        if (spec.src != host_ || at < now_) {
            throw InternalError("an application opened a flow from host " +
                                std::to_string(spec.src) + " at host " + std::to_string(host_) +
                                ": not its own, or in the past");
        }
        return store_.open_flow(world_, spec, at);
    }
    void start_flow(FlowId flow, Tick at) override {
        FlowRegistry& registry = store_.registry_;
        if (!registry.is_listed(flow) || registry.list()[flow].src != host_ || at < now_ ||
            registry.is_started(flow)) {
            throw InternalError("an application started flow " + std::to_string(flow) +
                                " at host " + std::to_string(host_) +
                                ": not its own, in the past, or already started");
        }
        registry.start(flow);
        schedule(world_, host_, Timer{at, TimerKind::flow_start, registry.pinned_slot(flow), flow});
    }
    void set_timer(NodeId host, Tick at, std::uint64_t token) override {
        if (at < now_ + (host == host_ ? 0 : lookahead())) {
            throw InternalError("an application's timer for host " + std::to_string(host) +
                                " is earlier than now plus the lookahead");
        }
        const Timer timer{at, TimerKind::application, kNone, token};
        if (host == host_) {
            schedule(world_, host, timer);
        } else {
            call(world_, host, timer);
        }
    }
    Tick lookahead() const override { return world_.lookahead; }

  private:
    WorldStore& store_;
    World& world_;
    NodeId host_;
    Tick now_;
};

void WorldStore::begin() {
    for (FlowId f = 0; f < flows().size(); ++f) {
        const FlowSpec& spec = flows()[f];
        if (spec.start != kNever) {
            registry_.start(f);
            schedule(world_, spec.src,
                     Timer{spec.start, TimerKind::flow_start, registry_.pinned_slot(f), f});
        }
    }
    if (application_ != nullptr) {
        for (const NodeId host : topology_.hosts()) {
            Services services(world_, host, 0);
            application_->on_begin(host, services);
        }
    }
}

PortId WorldStore::route(void* self, NodeId node, const Packet& packet) {
    const auto& store = *static_cast<const WorldStore*>(self);
    const FlowKey key = key_of(store.world_, packet);
    if (!is_sprayed(store.world_, packet.flow) || node == key.src) {
        return store.routing_.select(node, key);
    }
    const Routing::PortRange ports = store.routing_.next_hops(node, key.dst);
    return ports.empty() ? kNone
                         : ports.begin()[sprayed_way(store.world_, node, packet,
                                                     static_cast<std::uint32_t>(ports.size()))];
}

void WorldStore::received(World& world, NodeId host, FlowSlot flow, Tick now) {
    Services services(world, host, now);
    static_cast<WorldStore*>(world.callbacks.context)
        ->application_->on_received(host, world.id[flow], now, services);
}

void WorldStore::sent(World& world, NodeId host, FlowSlot flow, Tick now) {
    Services services(world, host, now);
    static_cast<WorldStore*>(world.callbacks.context)
        ->application_->on_sent(host, world.id[flow], now, services);
}

void WorldStore::timer(World& world, NodeId host, std::uint64_t token, Tick now) {
    Services services(world, host, now);
    static_cast<WorldStore*>(world.callbacks.context)
        ->application_->on_timer(host, token, now, services);
}

}  // namespace sluice::step
