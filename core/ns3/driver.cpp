// SPDX-License-Identifier: Apache-2.0
#include "core/ns3/driver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/ns3/nic.h"
#include "core/ns3/switch.h"

namespace sluice::ns3 {

namespace {

/// Tokens of timers that are the driver's own.
enum class Reading : std::uint64_t { file, install };

/// How far ahead arrivals are scheduled, in networks whose cables are not of very different lengths.
Tick reach_of(const step::World& world, const Topology& topology) {
    const std::int32_t frame = world.payload + world.data_overhead;
    Tick reach = 0;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        reach = std::max(reach, world.egress[p].delay + world.egress[p].serialization[frame]);
    }
    return reach;
}

}  // namespace

void set_timer(State& state, NodeId host, const step::Timer& timer) {
    std::uint32_t index = 0;
    if (state.free_timers.empty()) {
        index = static_cast<std::uint32_t>(state.timer.size());
        if (index >= kMaxIndex) {
            throw InternalError("more than " + std::to_string(kMaxIndex) +
                                " timers are set at one time under ns-3's order");
        }
        state.timer.emplace_back();
    } else {
        index = state.free_timers.back();
        state.free_timers.pop_back();
    }
    state.timer[index] = {timer, host};
    state.queue.push(timer.time, event_code(EventKind::timer, index));
}

Driver::Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks)
    : store_(store),
      hooks_(store, std::move(events), std::move(hooks)),
      membership_(store),
      state_(store.world(), reach_of(store.world(), store.topology())) {
    const Topology& topology = store.topology();
    if (topology.port_count() >= kMaxIndex) {
        throw ConfigError("arithmetic \"ns3\" takes networks of up to " +
                          std::to_string(kMaxIndex - 1) + " ports; this one has " +
                          std::to_string(topology.port_count()));
    }
    state_.port.resize(topology.port_count());
    for (PortId p = 0; p < topology.port_count(); ++p) {
        state_.port[p].node = topology.node_of(p);
    }
    take_over_timers();
    step::Callbacks& callbacks = store.world().callbacks;
    callbacks.timer_set_context = this;
    callbacks.timer_set = [](void* self, NodeId host, const step::Timer& timer) {
        auto& driver = *static_cast<Driver*>(self);
        ++driver.pending_timers_;
        driver.adopt(host, timer);
    };
}

/// What is in the hosts' heaps: flows of the list, to be read in its order, and what an application
/// has set at the beginning.
void Driver::take_over_timers() {
    step::World& world = store_.world();
    for (NodeId node = 0; node < world.node_count; ++node) {
        for (step::Host& host = world.host[node]; host.timers.count > 0;) {
            const step::Timer timer = step::pop_timer(host);
            const bool listed = timer.kind == step::TimerKind::flow_start && timer.slot == kNone &&
                                timer.id < store_.flows().size() &&
                                store_.flows()[timer.id].start != kNever;
            ++pending_timers_;
            if (listed) {
                starts_.push_back({whole_nanoseconds(timer.time), timer.id});
            } else {
                adopt(node, timer);
            }
        }
    }
    std::sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) {
        return std::make_pair(a.at, a.flow) < std::make_pair(b.at, b.flow);
    });
    schedule_reading();
}

/// Sets a timer that came from outside, whose time may be any.
void Driver::adopt(NodeId host, step::Timer timer) {
    timer.time = whole_nanoseconds(timer.time);
    set_timer(state_, host, timer);
}

void Driver::schedule_reading() {
    if (next_start_ < starts_.size()) {
        step::Timer timer;
        timer.time = starts_[next_start_].at;
        timer.id = static_cast<std::uint64_t>(Reading::file);
        set_timer(state_, kNone, timer);
    }
}

/// Reads every flow that starts now: each is installed by an event of its own.
void Driver::read_starts(Tick now) {
    for (; next_start_ < starts_.size() && starts_[next_start_].at == now; ++next_start_) {
        step::Timer timer;
        timer.time = now;
        timer.slot = static_cast<FlowSlot>(next_start_);  // there is no flow yet
        timer.id = static_cast<std::uint64_t>(Reading::install);
        set_timer(state_, kNone, timer);
    }
    schedule_reading();
}

Tick Driver::next_cut() const {
    const Tick event = idle() ? kNever : hooks_.next_event();
    return std::min(event, hooks_.next_sample());
}

Tick Driver::next() const { return std::min(state_.queue.next(), next_cut()); }

void Driver::execute_cut(Tick at) {
    if (hooks_.next_sample() == at) {
        hooks_.sample(at);
    }
    if (hooks_.next_event() == at) {
        hooks_.run_events(
            at, [&](const LinkEvent& event) { set_link(event.link, event.up, event.at); });
        membership_.stray_all();
    }
}

Tick Driver::advance(Tick limit) {
    while (!stopped()) {
        const Tick at = state_.queue.next();
        const Tick cut = next_cut();
        if (std::min(at, cut) >= limit || std::min(at, cut) == kNever) {
            break;
        }
        if (cut <= at) {
            now_ = std::max(now_, cut);
            execute_cut(cut);
            continue;
        }
        now_ = at;
        state_.queue.run(at, [&](EventCode code) { execute(code, at); });
        ++instants_;
        if ((instants_ & 1023U) == 0 || at >= hooks_.next_progress()) {
            report(at);
        }
    }
    report(now_);
    return stopped() ? kNever : next();
}

void Driver::report(Tick now) {
    for (const step::Membership::Change& change : membership_.list_changes()) {
        if (change.kind == step::Membership::ChangeKind::closed) {
            if (membership_.close(change.place, now)) {
                membership_.leave(change.place);
            }
        } else if (membership_.presence(change.place) == step::Membership::Presence::absent) {
            membership_.open(change.place);
        }
    }
    for (const FlowSlot flow : membership_.search(now)) {
        membership_.leave(flow);
    }
    hooks_.report(now, membership_.finished());
}

void Driver::execute(EventCode code, Tick now) {
    const std::uint32_t index = event_index(code);
    ++store_.world().events;
    switch (event_kind(code)) {
        case EventKind::arrival: arrive(index, now); break;
        case EventKind::transmitted:
            state_.port[index].end_scheduled = false;
            if (store_.world().is_host[state_.port[index].node] != 0) {
                nic_transmit(state_, index, now);
            } else {
                switch_transmit(state_, index, now);
            }
            break;
        case EventKind::nic_wake: {
            Port& port = state_.port[index];
            if (port.wake_at == now && port.wake_order == state_.queue.current()) {
                port.wake_at = kNever;
                nic_transmit(state_, index, now);
            }
            break;
        }
        case EventKind::timer: run_timer(index, now); break;
    }
}

/// A packet's last bit. What arrives at a port out of service is lost.
void Driver::arrive(PortId port, Tick now) {
    step::World& world = store_.world();
    step::Wire& link = world.link[port];
    // Its slot stays as it is meanwhile: only the far end writes to this link, in events of its own.
    const step::Packet& packet = link.front();
    link.pop();
    const NodeId node = state_.port[port].node;
    if (!world.egress[port].up) {
        step::lose(world, world.egress[world.egress[port].peer], &step::Egress::drops_link_down);
    } else if (world.is_host[node] != 0) {
        host_arrive(state_, node, port, packet, now);
    } else {
        switch_arrive(state_, node, port, packet, now);
    }
}

void Driver::run_timer(std::uint32_t index, Tick now) {
    const PendingTimer pending = state_.timer[index];
    state_.free_timers.push_back(index);
    const step::Timer& timer = pending.timer;
    if (pending.host == kNone) {
        if (timer.id == static_cast<std::uint64_t>(Reading::file)) {
            read_starts(now);
            return;
        }
        const FlowId flow = starts_[timer.slot].flow;
        set_timer(state_, store_.flows()[flow].src,
                  step::Timer{now, step::TimerKind::flow_start, kNone, flow});
        return;
    }
    if (timer.kind == step::TimerKind::sender) {
        sender_timer(state_, pending.host, timer, now);
        return;
    }
    --pending_timers_;
    if (timer.kind == step::TimerKind::flow_start) {
        start_flow(state_, pending.host, step::slot_of(store_.world(), pending.host, timer), now);
    } else if (const step::Callbacks& callbacks = store_.world().callbacks;
               callbacks.timer != nullptr) {
        callbacks.timer(store_.world(), pending.host, timer.id, now);
    }
}

}  // namespace sluice::ns3
