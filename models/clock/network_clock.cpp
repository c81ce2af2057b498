// SPDX-License-Identifier: Apache-2.0
#include "models/clock/network_clock.h"

#include <algorithm>
#include <string>
#include <typeinfo>

#include "core/clocks/division.h"
#include "core/packet/egress.h"
#include "core/world/skip.h"
#include "models/nic/nic.h"
#include "models/sim_time.h"
#include "models/switch/switch.h"

namespace sluice {

namespace {

/// How far a clock runs ahead of SystemC's time when nothing foreign is attached: far enough that
/// the kernel costs nothing, near enough that other processes of a testbench see it move.
constexpr Tick kRunAhead = kMillisecond;

/// Serialization times are known up to this.
std::int64_t largest_packet(const PacketFormat& format) {
    return std::max<std::int64_t>(
        {std::int64_t{format.payload} + format.header + format.extra_header, format.ack,
         format.pause});
}

}  // namespace

NetworkClock::NetworkClock(const sc_core::sc_module_name& name, step::WorldStore& store)
    : sc_module(name), store_(store) {
    SC_METHOD(run);
    sensitive << event_;
}

void NetworkClock::attach_foreign(PortId port, PacketInitiatorSocket& socket) {
    foreign_.push_back(ForeignLink{store_.topology().peer_of(port), &socket});
}

void NetworkClock::configure(std::vector<LinkEvent> events, RunHooks hooks, Tick stop) {
    events_ = std::move(events);
    hooks_ = std::move(hooks);
    stop_ = stop;
}

void NetworkClock::start_of_simulation() {
    require_resolution();
    store_.begin();
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
    if (store_.config().arithmetic == Arithmetic::ns3) {
        ns3_ = std::make_unique<ns3::Driver>(store_, std::move(events_), std::move(hooks_));
        return;
    }
    driver_ = partitions_ == nullptr
                  ? std::make_unique<step::Driver>(store_, std::move(events_), std::move(hooks_))
                  : std::make_unique<step::Driver>(store_, std::move(events_), std::move(hooks_),
                                                   clocks_, *partitions_, supervisor_);
    if (!foreign_.empty()) {
        driver_->expect_packets_from_outside();
    }
    const bool followed =
        supervisor_ != nullptr && supervisor_->may_fold() && clocks_ == step::Clocks::one;
    if (fold_ && (partitions_ == nullptr || followed) && foreign_.empty() &&
        !store_.world().digest_hops) {
        folds_ = std::make_unique<step::Folds>(store_, supervisor_);
        driver_->fold(*folds_);
    }
    if (divisible()) {
        team_ = std::make_unique<step::Team>(store_, threads_, step::cell_stepper);
        if (supervisor_ != nullptr) {
            // Most of the network sleeps at any time.
            team_->keep_division(step::divide_everywhere(store_.topology(), threads_.count));
        }
        driver_->divide_windows(*team_);
    }
}

bool NetworkClock::divisible() const {
    const Application* application = store_.application();
    return threads_.count > 1 && clocks_ == step::Clocks::one && foreign_.empty() &&
           (application == nullptr || !application->for_one_thread()) &&
           std::all_of(nodes_.begin(), nodes_.end(), [](const Node* node) {
               return node != nullptr &&
                      (typeid(*node) == typeid(Nic) || typeid(*node) == typeid(Switch));
           });
}

std::uint32_t NetworkClock::threads_used() const {
    return team_ != nullptr && team_->windows() > 0 ? team_->size() : 1;
}

void NetworkClock::unfold() {
    if (folds_ != nullptr) {
        driver_->unfold();
    }
}

FoldCounters NetworkClock::fold_counters() const {
    return folds_ != nullptr ? folds_->counters() : FoldCounters{};
}

Tick NetworkClock::now() const {
    return ns3_ != nullptr ? ns3_->now() : driver_ != nullptr ? driver_->now() : 0;
}

Tick NetworkClock::earliest() const {
    return foreign_.empty() ? now() : std::max(now(), to_ticks_up(sc_core::sc_time_stamp()));
}

std::uint64_t NetworkClock::windows() const {
    return ns3_ != nullptr ? ns3_->instants() : driver_ != nullptr ? driver_->windows() : 0;
}

Tick NetworkClock::next() const { return ns3_ != nullptr ? ns3_->next() : driver_->next(); }

void NetworkClock::run() {
    if (ns3_ != nullptr) {
        run(*ns3_);
    } else {
        run(*driver_);
    }
}

void NetworkClock::run(step::Driver& driver) {
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
    if (foreign_.empty()) {
        next = driver.advance(std::min(now + kRunAhead + 1, stop_), step_cell);
    } else {
        // A foreign model may send at any instant from `now` on; its packet takes at least the
        // lookahead to arrive, and as long as the quantum says.
        const Tick lookahead = store_.world().lookahead;
        const Tick quantum = to_ticks(tlm::tlm_global_quantum::instance().get());
        const Tick limit = std::min(now + std::max(lookahead, quantum), stop_);
        next = driver.next();
        while (next < limit && !driver.stopped()) {
            const Tick end = std::min(next + lookahead, limit);
            next = driver.advance(end, step_cell, [this] { hand_over(); });
        }
    }
    if (next >= stop_ || driver.stopped()) {
        unfold();
    }
    if (next >= stop_ && next != kNever) {
        // Only what means something is cut off by the stop.
        step::forget_stale_wakes(store_.world());
        next = driver.next();
    }
    end_run(next, driver.stopped());
}

void NetworkClock::run(ns3::Driver& driver) {
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    const Tick next = driver.advance(std::min(now + kRunAhead + 1, stop_));
    end_run(next >= stop_ && driver.idle() ? kNever : next, driver.stopped());
}

void NetworkClock::end_run(Tick next, bool stopped) {
    finished_ = stopped || next >= stop_ || next == kNever;
    at_rest_ = !stopped && next == kNever;
    cut_off_ = !stopped && next >= stop_ && next != kNever;
    if (!finished_) {
        event_.notify(until(next));
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
    SC_REPORT_FATAL(
        "sluice/clock",
        (what + " at host " + std::to_string(node) + " at " + std::to_string(timer.time) +
         " ps, which is a foreign model: it opens its own (open_foreign_flow()), and an "
         "application does nothing there")
            .c_str());
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
        SC_REPORT_FATAL(
            "sluice/clock",
            ("a foreign model's packet at port " + std::to_string(port) + " " + what).c_str());
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
        SC_REPORT_FATAL(
            "sluice/clock",
            ("a foreign model's packet arrives at " + std::to_string(at) +
             " ps, before the network's local time " + std::to_string(NetworkClock::now()) +
             " ps: it must arrive at least the network's lookahead, and at least the TLM global "
             "quantum, after the call")
                .c_str());
    }
    check_foreign(port, packet);
    if (!ring.empty() && ring.at(ring.tail - 1).time + ring.base > at) {
        SC_REPORT_FATAL("sluice/clock", "a foreign model's packets overtook each other on a link");
    }
    const bool over = packet.packet_kind() < step::PacketKind::pause &&
                      world.id[packet.flow] == kNoFlow;  // a duplicate that the model held back
    if (over || !world.egress[port].up) {
        ++world.drops;
        ++world.egress[port].drops;
        return;
    }
    if (driver_ != nullptr) {
        driver_->before_packet_from_outside(packet);
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
    if (driver_ != nullptr) {
        driver_->take_up_closed();
    }
}

void NetworkClock::wake() {
    if (driver_ == nullptr && ns3_ == nullptr) {
        return;  // the simulation has not started: all timers will be seen
    }
    const Tick next = this->next();
    if (next < now()) {
        SC_REPORT_FATAL("sluice/clock",
                        ("something was set for " + std::to_string(next) +
                         " ps, before the network's local time " + std::to_string(now()) +
                         " ps: flows are opened by Network::open_flow()")
                            .c_str());
    }
    if (next < stop_) {
        finished_ = false;
        event_.notify(until(next));
    }
}

}  // namespace sluice
