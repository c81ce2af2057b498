// SPDX-License-Identifier: Apache-2.0
/// A NIC whose flows obey a congestion law of the user's own, with no change to the library: a struct that
/// derives from congestion::LawHooks (core/congestion/types.h), as the simulator's own laws do.
///
/// The network's law must be congestion::Law::none: it leaves the rate alone, and this NIC sets it. A step is
/// executed instant by instant, so that the law hears each ACK, and its timers come up, at their picosecond: the
/// result is that of the same law in congestion/laws.h, packet for packet. Rates, windows and pacing are as ever those of CommonParameters. There are no INT records.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/error.h"
#include "models/nic/nic.h"

namespace sluice {

template <class Hooks, class State = typename Hooks::State,
          class Parameters = typename Hooks::Parameters>
class LawNic : public Nic {
    static_assert(!Hooks::traits().uses_int,
                  "switches write INT records for the network's law only");

  public:
    /// ConfigError unless the network's law is none.
    LawNic(const sc_core::sc_module_name& name, NodeId id, const Context& context,
           const Parameters& parameters = {})
        : Nic(name, id, context), parameters_(parameters) {
        if (context.world.config->congestion.law != congestion::Law::none) {
            throw ConfigError(std::string(this->name()) +
                              " has a law of its own beside the network's; allowed: "
                              "congestion.law = \"none\"");
        }
    }

    void step(const step::Cell& cell, Tick begin, Tick end) override {
        step::World& world = this->world();
        for (;;) {
            const Tick timer = timers_.empty() ? kNever : std::get<Tick>(*timers_.begin());
            const Tick due = world.wake[cell.id] < begin ? begin : world.wake[cell.id];
            const Tick now = timer < due ? timer : due;
            if (now >= end) {
                world.wake[cell.id] = now;
                return;
            }
            hear(now);
            run_timers(now);
            const std::uint32_t known = world.changed.count;
            step::host_step(world, cell, now + 1);
            take_up(known, now);
            if (world.wake[cell.id] <= now) {
                return;  // it waits for other nodes
            }
        }
    }

  private:
    struct Controlled {
        State state;
        Tick due = kNever;  ///< of its entry in timers_
    };

    const congestion::Parameters& common() { return world().config->congestion; }
    step::Host& host() { return world().host[id()]; }

    /// ACKs that arrive at `now`, before the NIC takes them.
    void hear(Tick now) {
        const step::World& world = this->world();
        for (PortId port = world.first_port[id()]; port < world.first_port[id() + 1]; ++port) {
            step::Wire& link = world.link[port];
            if (link.arrival != now) {
                continue;
            }
            const step::Packet& packet = link.front();
            const bool answers = packet.packet_kind() == step::PacketKind::ack ||
                                 packet.packet_kind() == step::PacketKind::nack;
            step::Ingress draw = world.ingress[port];
            if (answers && world.sender_at[packet.flow] != kNone &&
                !step::lost_on_link(world, port, draw)) {
                respond(packet, now);
            }
        }
    }

    /// The law of whoever has the queue pair of `packet`'s flow now.
    void respond(const step::Packet& packet, Tick now) {
        const step::World& world = this->world();
        const std::uint32_t index = world.sender_at[packet.flow];
        const step::Sender& sender = host().senders[index];
        step::Sender& lead = host().senders[step::credit_heirs(host(), index, 0)];
        Controlled& own = controlled_[lead.flow];
        const std::int64_t rate = lead.cc.rate;
        Hooks::on_ack(lead.cc, own.state, common(), parameters_, world.int_rates,
                      feedback(sender, lead, packet, now));
        if (lead.cc.rate != rate) {
            obey(lead);
        }
        schedule(lead.flow, own);
    }

    /// As step::feedback() will say once the ACK is taken.
    congestion::Ack feedback(const step::Sender& sender, const step::Sender& lead,
                             const step::Packet& packet, Tick now) {
        const step::World& world = this->world();
        congestion::Ack ack = step::feedback(world, sender, lead, packet, now);
        if (&sender == &lead) {
            const std::uint32_t acked =
                step::acknowledged_index(world.config->nic, sender, packet.sequence);
            const std::uint32_t una = acked > sender.una ? acked : sender.una;
            const bool back =
                packet.packet_kind() == step::PacketKind::nack && !step::repeats_selectively(world);
            if (back || una > sender.next) {
                ack.next = sender.offset + step::bytes_before(world, una, sender.size);
            }
        }
        return ack;
    }

    /// The flow has another rate.
    void obey(step::Sender& sender) {
        if (sender.cc.retime) {
            const Tick gap = step::pacing_gap(world(), sender, sender.cc.rate);
            sender.next_avail += gap - sender.last_gap;
            sender.last_gap = gap;
        }
        sender.window = congestion::window(sender.cc, common());
    }

    void run_timers(Tick now) {
        while (!timers_.empty() && std::get<Tick>(*timers_.begin()) <= now) {
            const FlowSlot flow = std::get<FlowSlot>(*timers_.begin());
            Controlled& own = controlled_[flow];
            step::Sender& sender = step::sender_of(world(), flow);
            Hooks::on_timer(sender.cc, own.state, common(), parameters_, now);
            sender.window = congestion::window(sender.cc, common());
            schedule(flow, own);
            step::update_ready(world(), sender);
            step::decide(world(), host(), sender.port, now);
        }
    }

    /// Flows that were opened or closed in the instant `now`: World::changed from `known` on.
    void take_up(std::uint32_t known, Tick now) {
        const step::World& world = this->world();
        for (std::uint32_t i = known; i < world.changed.count; ++i) {
            const FlowSlot flow = world.changed[i];
            if (world.spec[flow].src != id()) {
                continue;
            }
            if (world.sender_at[flow] != kNone) {
                open(flow, now);
            } else if (const auto over = controlled_.find(flow); over != controlled_.end()) {
                timers_.erase({over->second.due, world.id[flow], flow});
                controlled_.erase(over);
            }
        }
    }

    /// `flow` has come into service, and its first packet may have left.
    void open(FlowSlot flow, Tick now) {
        step::Sender& sender = step::sender_of(world(), flow);
        Controlled& own = controlled_[flow];
        if (Controlled* const before = before_on_queue_pair(flow)) {
            own.state = before->state;
        } else {
            const std::int64_t rate = sender.cc.rate;
            Hooks::start(sender.cc, own.state, parameters_);
            if (sender.cc.rate != rate) {
                const Tick gap = step::pacing_gap(world(), sender, sender.cc.rate);
                sender.next_avail += sender.transmissions > 0 ? gap - sender.last_gap : 0;
                sender.last_gap = sender.transmissions > 0 ? gap : 0;
                sender.window = congestion::window(sender.cc, common());
                step::update_ready(world(), sender);
                step::decide(world(), host(), sender.port, now);
            }
        }
        schedule(flow, own);
    }

    /// The message whose queue pair `flow` has taken over, if there is one. What is left to it is to send again
    /// what is lost: its law begins anew.
    Controlled* before_on_queue_pair(FlowSlot flow) {
        if (world().spec[flow].queue() == kNone) {
            return nullptr;
        }
        for (auto& [other, own] : controlled_) {
            step::Sender& before = step::sender_of(world(), other);
            if (before.heir == world().sender_at[flow]) {
                handed_over_ = own;
                const std::int64_t rate = before.cc.rate;
                Hooks::start(before.cc, own.state, parameters_);
                before.cc.rate = rate;
                schedule(other, own);
                return &handed_over_;
            }
        }
        return nullptr;
    }

    void schedule(FlowSlot flow, Controlled& own) {
        const Tick due = Hooks::next_timer(own.state);
        if (due != own.due) {
            timers_.erase({own.due, world().id[flow], flow});
            own.due = due;
            if (due != kNever) {
                timers_.insert({due, world().id[flow], flow});
            }
        }
    }

    Parameters parameters_;
    std::unordered_map<FlowSlot, Controlled> controlled_;  ///< flows that are active
    std::set<std::tuple<Tick, FlowId, FlowSlot>>
        timers_;  ///< of the law, in the order of NICs' timers
    Controlled handed_over_;
};

}  // namespace sluice
