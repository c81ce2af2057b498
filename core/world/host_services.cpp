// SPDX-License-Identifier: Apache-2.0
/// What an application is offered, and how a step reaches what runs on its hosts.
#include "core/world/world_store.h"

#include <string>

#include "core/error.h"
#include "core/packet/nic.h"

namespace sluice::step {

namespace {

/// What an application may do, bound to a host and an instant.
class Services : public HostServices {
  public:
    Services(NetworkFlows& flows, World& world, NodeId host, Tick now)
        : flows_(flows), world_(world), host_(host), now_(now) {}

    FlowId open_flow(const FlowSpec& spec, Tick at) override {
        if (spec.src != host_ || at < now_) {
            throw InternalError("an application opened a flow from host " +
                                std::to_string(spec.src) + " at host " + std::to_string(host_) +
                                ": not its own, or in the past");
        }
        return flows_.open(world_, spec, at);
    }
    void start_flow(FlowId flow, Tick at) override {
        FlowRegistry& registry = flows_.registry();
        if (!registry.is_listed(flow) || registry.list()[flow].src != host_ || at < now_ ||
            registry.is_scheduled(flow)) {
            throw InternalError("an application started flow " + std::to_string(flow) +
                                " at host " + std::to_string(host_) +
                                ": not its own, in the past, or already started");
        }
        registry.schedule(flow);
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
    NetworkFlows& flows_;
    World& world_;
    NodeId host_;
    Tick now_;
};

}  // namespace

void WorldStore::begin() {
    FlowRegistry& registry = network_flows_.registry();
    for (FlowId f = 0; f < flows().size(); ++f) {
        const FlowSpec& spec = flows()[f];
        if (spec.start != kNever) {
            registry.schedule(f);
            schedule(world_, spec.src,
                     Timer{spec.start, TimerKind::flow_start, registry.pinned_slot(f), f});
        }
    }
    if (application_ != nullptr) {
        for (const NodeId host : topology_.hosts()) {
            Services services(network_flows_, world_, host, 0);
            application_->on_begin(host, services);
        }
    }
}

void WorldStore::bind_callbacks() {
    Callbacks& callbacks = world_.callbacks;
    callbacks.context = this;
    callbacks.route = [](void* self, NodeId node, const Packet& packet) {
        return static_cast<const WorldStore*>(self)->network_flows_.routes().next_hop(node, packet);
    };
    callbacks.take_slot = [](World& world, NodeId host, FlowId flow) {
        return static_cast<WorldStore*>(world.callbacks.context)
            ->network_flows_.take_start(world, host, flow);
    };
    if (application_ == nullptr) {
        return;
    }
    callbacks.received = [](World& world, NodeId host, FlowSlot flow, Tick now) {
        auto& store = *static_cast<WorldStore*>(world.callbacks.context);
        Services services(store.network_flows_, world, host, now);
        store.application_->on_received(host, world.id[flow], now, services);
    };
    callbacks.sent = [](World& world, NodeId host, FlowSlot flow, Tick now) {
        auto& store = *static_cast<WorldStore*>(world.callbacks.context);
        Services services(store.network_flows_, world, host, now);
        store.application_->on_sent(host, world.id[flow], now, services);
    };
    callbacks.timer = [](World& world, NodeId host, std::uint64_t token, Tick now) {
        auto& store = *static_cast<WorldStore*>(world.callbacks.context);
        Services services(store.network_flows_, world, host, now);
        store.application_->on_timer(host, token, now, services);
    };
}

}  // namespace sluice::step
