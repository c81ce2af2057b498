// SPDX-License-Identifier: Apache-2.0
/// Devices of the network's own whose ports somebody watches. Such a device executes its windows instant by instant, with
/// the same results, and tells of each; devices that nobody watches are what they would be anyway and cost nothing more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/nic/nic.h"
#include "models/switch/switch.h"

namespace sluice {

/// Who watches ports. Times are the network's, of one clock.
class Tap {
  public:
    virtual ~Tap() = default;
    virtual bool watches(PortId port) const = 0;
    /// Everything before `now` has been told; what comes is not before it.
    virtual void passed(const step::World& world, Tick now) = 0;
    /// `port` has begun to send `packet`, whose last bit reaches the far end at `arrival`.
    virtual void sent(const step::World& world, PortId port, const step::Packet& packet,
                      Tick arrival) = 0;
    /// What `port` does at `now` is done.
    virtual void stepped(const step::World& world, PortId port, Tick now) = 0;
};

/// A device of type `Base`, watched by `taps`, which must outlive it.
template <class Base>
class Tapped : public Base {
  public:
    template <class... Arguments>
    Tapped(const std::vector<Tap*>& taps, const sc_core::sc_module_name& name, NodeId id,
           const Node::Context& context, Arguments&&... arguments)
        : Base(name, id, context, std::forward<Arguments>(arguments)...) {
        const step::World& world = context.world;
        for (PortId port = world.first_port[id]; port < world.first_port[id + 1]; ++port) {
            for (Tap* tap : taps) {
                if (tap->watches(port)) {
                    watched_.push_back({port, tap, 0});
                }
            }
        }
    }

    const std::type_info& device_type() const override { return typeid(Base); }

    void step(const step::Cell& cell, Tick begin, Tick end) override {
        if (cell.ports != nullptr) {
            throw ConfigError("ports are watched on one clock; allowed: no partition clocks");
        }
        const step::World& world = this->world();
        for (const Watched& watched : watched_) {
            watched.tap->passed(world, begin);
        }
        Tick now = std::max(world.wake[cell.id], begin);
        while (now < end) {
            for (Watched& watched : watched_) {
                watched.waiting = world.link[world.egress[watched.port].out].size();
            }
            Base::step(cell, now, now + 1);
            for (const Watched& watched : watched_) {
                tell(watched, now);
            }
            if (world.wake[cell.id] <= now) {
                return;  // it waits for other nodes
            }
            now = world.wake[cell.id];
        }
    }

  private:
    struct Watched {
        PortId port;
        Tap* tap;
        std::uint32_t waiting;  ///< packets on its link before the step
    };

    void tell(const Watched& watched, Tick now) {
        const step::World& world = this->world();
        step::Wire& link = world.link[world.egress[watched.port].out];
        for (std::uint32_t i = link.head + watched.waiting; i != link.tail; ++i) {
            watched.tap->sent(world, watched.port, link.at(i), link.at(i).time + link.base);
        }
        watched.tap->stepped(world, watched.port, now);
    }

    std::vector<Watched> watched_;
};

/// One of `taps` watches a port of node `id`.
inline bool is_tapped(const std::vector<Tap*>& taps, NodeId id, const Node::Context& context) {
    const step::World& world = context.world;
    bool watched = false;
    for (PortId port = world.first_port[id]; port < world.first_port[id + 1]; ++port) {
        watched = watched || std::any_of(taps.begin(), taps.end(),
                                         [&](const Tap* tap) { return tap->watches(port); });
    }
    return watched;
}

/// For NetworkOptions::make_node: the default devices, watched where one of `taps` wants it. They must outlive the network.
inline auto make_tapped(std::vector<Tap*> taps) {
    return [taps = std::move(taps)](const char* name, NodeId id, const Node::Context& context,
                                    step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (!is_tapped(taps, id, context)) {
            return nullptr;
        }
        if (context.world.is_host[id] != 0) {
            return std::make_unique<Tapped<Nic>>(taps, name, id, context);
        }
        return std::make_unique<Tapped<Switch>>(taps, name, id, context, scratch);
    };
}

}  // namespace sluice
