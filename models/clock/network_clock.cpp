// SPDX-License-Identifier: Apache-2.0
#include "models/clock/network_clock.h"

#include <algorithm>
#include <string>
#include <typeinfo>

#include "core/packet/egress.h"
#include "models/nic/nic.h"
#include "models/report.h"
#include "models/sim_time.h"
#include "models/switch/switch.h"

namespace sluice {

namespace {

/// Serialization times are known up to this.
std::int64_t largest_packet(const PacketFormat& format) {
    return std::max<std::int64_t>(
        {std::int64_t{format.payload} + format.header + format.extra_header, format.ack,
         format.pause});
}

/// Later arrivals could not be added to.
constexpr Tick kLatest = kNever / 2;

/// What cannot be of a packet of a flow in the network, whose sender is ours if `own`; empty: nothing. Laws and queue pairs
/// take these things for granted.
std::string fault_of(const step::World& world, const step::Packet& packet, bool own, Tick at) {
    const bool data = packet.packet_kind() == step::PacketKind::data;
    const bool selective = step::repeats_selectively(world);
    if (selective && packet.packet_kind() == step::PacketKind::nack && !step::trims(world)) {
        return "is a NACK, which selective repeat has where switches trim; allowed: an ACK";
    }
    if (!own) {
        return "";
    }
    if (world.sender_at[packet.flow] == kNone) {
        return world.result[packet.flow].start == kNever ? "belongs to a flow that has not started"
                                                         : "";
    }
    const step::Sender& sender = step::sender_of(world, packet.flow);
    if (packet.sequence + (data ? 1U : 0U) > sender.high) {
        return std::string(data ? "has" : "answers") + " sequence " +
               std::to_string(packet.sequence) + " of a flow that has sent " +
               std::to_string(sender.high) + " packets";
    }
    if (!selective && (packet.stamp < 0 || packet.stamp > at - sender.skipped)) {
        return "has the stamp " + std::to_string(packet.stamp) +
               ", which is none of a packet that has left before; allowed: what its sender wrote";
    }
    return "";
}

}  // namespace

NetworkClock::NetworkClock(const sc_core::sc_module_name& name, step::WorldStore& store)
    : sc_module(name), store_(store), engine_(store) {
    SC_METHOD(run);
    sensitive << event_;
}

void NetworkClock::attach_foreign(PortId port, PacketInitiatorSocket& socket) {
    foreign_.push_back(ForeignLink{store_.topology().peer_of(port), &socket});
}

void NetworkClock::start_of_simulation() {
    require_resolution();
    engine::Surroundings surroundings;
    surroundings.foreign = !foreign_.empty();
    free_running_ = free_running_ && foreign_.empty();
    surroundings.as_is = std::all_of(nodes_.begin(), nodes_.end(), [](const Node* node) {
        return node != nullptr && (typeid(*node) == typeid(Nic) || typeid(*node) == typeid(Switch));
    });
    engine_.begin(surroundings);
    for (NodeId node = 0; node < nodes_.size(); ++node) {
        refuse_timers(node, kNever);
    }
    if (congestion::traits(store_.config().congestion.law).uses_int) {
        maybe_blind_.resize(nodes_.size());
        for (NodeId node = 0; node < nodes_.size(); ++node) {
            maybe_blind_[node] = nodes_[node] != nullptr && !store_.topology().is_host(node) &&
                                 typeid(*nodes_[node]) != typeid(Switch);
        }
        if (std::find(maybe_blind_.begin(), maybe_blind_.end(), true) == maybe_blind_.end()) {
            maybe_blind_.clear();
        }
    }
}

Tick NetworkClock::earliest() const {
    return free_running_ ? now() : std::max(now(), to_ticks_up(sc_core::sc_time_stamp()));
}

/// Lets run() be called at `next`, unless it is called before that anyway.
void NetworkClock::schedule_run(Tick next) {
    if (next >= next_run_) {
        return;
    }
    event_.notify(until(next));
    next_run_ = next;
}

void NetworkClock::run() {
    next_run_ = kNever;
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    const auto step_cell = [this](const step::Cell& cell, Tick begin, Tick end) {
        Node* const module = nodes_[cell.node];
        if (module != nullptr) {
            module->step(cell, begin, end);
            if (!maybe_blind_.empty() && maybe_blind_[cell.node]) {
                look_for_int(cell.node);
            }
        } else {
            refuse_timers(cell.node, end);
            store_.world().wake[cell.id] = kNever;
        }
    };
    Tick next = kNever;
    if (free_running_) {
        next = engine_.run_ahead(now, step_cell);
    } else {
        // Whoever is outside may post or send at any instant from `now` on; a packet takes at least the
        // lookahead to arrive, and as long as the quantum says.
        const Tick quantum = to_ticks(tlm::tlm_global_quantum::instance().get());
        Tick limit = now + std::max(store_.world().lookahead, quantum);
        const auto run_to = [&](Tick end) {
            return engine_.run_in_lockstep(end, step_cell, [this] { hand_over(); });
        };
        if (meets_cuts_ && engine_.driver() != nullptr) {
            next = run_to(now + 1);  // what is to be decided now is
            limit = std::min(limit, engine_.driver()->next_cut());
        }
        next = engine_.finished() ? next : run_to(limit);
    }
    if (engine_.finished()) {
        done_.notify(until(engine_.reached()));
    } else {
        schedule_run(next);
    }
}

/// A foreign host's timers would ring for nobody. Those before `end` are reported.
void NetworkClock::refuse_timers(NodeId node, Tick end) const {
    const step::Host& host = store_.world().host[node];
    if (nodes_[node] != nullptr || host.timers.count == 0 || host.timers[0].time >= end) {
        return;
    }
    const step::Timer& timer = host.timers[0];
    const std::string what = timer.kind == step::TimerKind::flow_start
                                 ? "flow " + std::to_string(timer.id) + " is to start"
                                 : "the application has a timer";
    sluice::refuse(
        "sluice/clock",
        what + " at host " + std::to_string(node) + " at " + std::to_string(timer.time) +
            " ps, which is a foreign model: it opens its own (open_foreign_flow()), and an "
            "application does nothing there");
}

void NetworkClock::hand_over() {
    step::World& world = store_.world();
    for (const ForeignLink& link : foreign_) {
        for (step::Wire& ring = world.link[link.peer]; !ring.empty(); ring.pop()) {
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = until(step::next_arrival(ring));
            (*link.socket)->nb_transport_fw(ring.front(), phase, delay);
        }
        world.link[link.peer].arrival = kNever;
    }
}

/// Looks at the packets that `node` has sent, until one says whether it writes INT.
void NetworkClock::look_for_int(NodeId node) {
    step::World& world = store_.world();
    for (PortId port = world.first_port[node]; port < world.first_port[node + 1]; ++port) {
        step::Wire& sent = world.link[world.egress[port].out];
        for (std::uint32_t at = sent.head; at != sent.tail; ++at) {
            const step::Packet& packet = sent.at(at);
            if (packet.packet_kind() != step::PacketKind::data) {
                continue;
            }
            maybe_blind_[node] = false;
            // The sender's transmission is the first, and as many records as fit are counted.
            if (packet.int_hops + 1U >= std::min<std::uint32_t>(packet.hop, world.int_stride)) {
                return;
            }
            SC_REPORT_WARNING(
                "sluice/network",
                ("switch " + std::to_string(node) + " sends packets that have crossed " +
                 std::to_string(packet.hop - 1) + " switches with " +
                 std::to_string(packet.int_hops) +
                 " INT records: the law learns nothing of the others, and flows that meet no other "
                 "switch keep their first rate")
                    .c_str());
            return;
        }
    }
}

/// What a step takes for granted of a packet.
void NetworkClock::check_foreign(PortId port, const step::Packet& packet) const {
    const auto refuse = [&](const std::string& what) {
        sluice::refuse("sluice/clock",
                       "a foreign model's packet at port " + std::to_string(port) + " " + what);
    };
    if (packet.packet_kind() > step::PacketKind::resume) {
        refuse("is of kind " + std::to_string(packet.kind) + "; allowed: 0 to 4");
    }
    const std::int64_t largest = largest_packet(store_.config().format);
    if (packet.bytes < 1 || packet.bytes > largest) {
        refuse("has " + std::to_string(packet.bytes) + " bytes on the wire; allowed: 1 to " +
               std::to_string(largest) + ", by NetworkConfig::format");
    }
    if (packet.packet_kind() >= step::PacketKind::pause) {
        if (packet.sequence >= step::kClasses) {
            refuse("is a PFC frame for class " + std::to_string(packet.sequence) +
                   "; allowed: 0 to 7");
        }
        return;
    }
    if (packet.flow >= store_.slot_count()) {
        refuse("belongs to no flow of the network");
    }
    const bool data = packet.packet_kind() == step::PacketKind::data;
    const std::uint32_t packets = store_.world().receiver[packet.flow].packets;
    if (store_.world().id[packet.flow] != kNoFlow && packet.sequence >= packets + (data ? 0 : 1)) {
        refuse("has sequence " + std::to_string(packet.sequence) + " of a flow of " +
               std::to_string(packets) + " packets");
    }
}

void NetworkClock::receive(PortId port, const step::Packet& packet, Tick at) {
    step::World& world = store_.world();
    step::Wire& ring = world.link[port];
    if (at < NetworkClock::now()) {
        sluice::refuse(
            "sluice/clock",
            "a foreign model's packet arrives at " + std::to_string(at) +
                " ps, before the network's local time " + std::to_string(NetworkClock::now()) +
                " ps: it must arrive at least the network's lookahead, and at least the TLM global "
                "quantum, after the call");
    }
    if (!engine_.begun()) {
        sluice::refuse("sluice/clock",
                       "a foreign model's packet comes before the simulation starts");
    }
    if (at > kLatest) {
        sluice::refuse("sluice/clock", "a foreign model's packet arrives at " + std::to_string(at) +
                                           " ps; allowed: to " + std::to_string(kLatest) + " ps");
    }
    check_foreign(port, packet);
    const bool over = packet.packet_kind() < step::PacketKind::pause &&
                      world.id[packet.flow] == kNoFlow;  // a duplicate that the model held back
    if (over || !world.egress[port].up) {
        step::lose(world, world.egress[port],
                   over ? &step::Egress::drops_outdated : &step::Egress::drops_link_down);
        return;
    }
    if (packet.packet_kind() < step::PacketKind::pause) {
        const FlowSpec& spec = world.spec[packet.flow];
        const NodeId node = store_.topology().node_of(port);
        const NodeId end = packet.packet_kind() == step::PacketKind::data ? spec.dst : spec.src;
        const std::string fault =
            store_.topology().is_host(node) && node != end
                ? "is for host " + std::to_string(end) + ", not for host " + std::to_string(node)
                : fault_of(world, packet, nodes_[spec.src] != nullptr, at);
        if (!fault.empty()) {
            sluice::refuse("sluice/clock", "a foreign model's packet at port " +
                                               std::to_string(port) + " " + fault);
        }
    }
    if (engine_.driver() != nullptr) {
        engine_.driver()->before_packet_from_outside(packet, port, earliest());
    }
    if (!ring.empty() && ring.at(ring.tail - 1).time + ring.base > at) {
        sluice::refuse("sluice/clock", "a foreign model's packets overtook each other on a link");
    }
    step::Packet copy = packet;
    copy.time = at - ring.base;
    if (world.digest_hops) {
        world.checksum += step::hop_digest(copy, step::digest_id(world, copy),
                                           store_.topology().peer_of(port), at);
    }
    const bool first = ring.empty();
    ring.push(world.memory, copy);
    if (first) {
        world.link[port].arrival = at;
        step::wake_cell(world, step::cell_of(world, port), at);
    }
    wake();
}

void NetworkClock::take_up_closed() {
    if (engine_.driver() != nullptr) {
        engine_.driver()->take_up_closed();
    }
}

void NetworkClock::wake() {
    if (!engine_.begun()) {
        return;  // the simulation has not started: all timers will be seen
    }
    const Tick next = engine_.next();
    if (next < now()) {
        sluice::refuse("sluice/clock", "something was set for " + std::to_string(next) +
                                           " ps, before the network's local time " +
                                           std::to_string(now()) +
                                           " ps: flows are opened by Network::open_flow()");
    }
    if (next < engine_.stop()) {
        engine_.go_on();
        done_.cancel();  // it was to be notified later
        schedule_run(next);
    }
}

}  // namespace sluice
