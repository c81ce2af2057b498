// SPDX-License-Identifier: Apache-2.0
/// A worked example: models of a user's own, written against models/protocol.h alone (docs/link-protocol.md):
/// a foreign switch and foreign hosts.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "core/flow/flow.h"
#include "core/topology/topology.h"
#include "models/foreign/link_checker.h"
#include "models/network.h"
#include "models/sim_time.h"

namespace sluice::foreign {

/// The sockets of one port of a foreign model, bound to the network's port at the other end.
template <class Owner>
struct ForeignPort : PacketForwardIf {
    ForeignPort(Owner& owner_, std::uint32_t index_, LinkEnd& neighbor)
        : ForeignPort(owner_, index_, neighbor.out, neighbor.in) {}
    /// Where a checker stands between.
    ForeignPort(Owner& owner_, std::uint32_t index_, PacketInitiatorSocket& from,
                PacketTargetSocket& to)
        : owner(owner_),
          index(index_),
          out(("out" + std::to_string(index_)).c_str()),
          in(("in" + std::to_string(index_)).c_str()) {
        out.bind(backward);
        in.bind(*this);
        from.bind(in);
        out.bind(to);
    }
    tlm::tlm_sync_enum nb_transport_fw(step::Packet& packet, tlm::tlm_phase&,
                                       sc_core::sc_time& delay) override {
        owner.accept(index, packet, delay);
        return tlm::TLM_COMPLETED;
    }
    void b_transport(step::Packet& packet, sc_core::sc_time& delay) override {
        owner.accept(index, packet, delay);
    }
    bool get_direct_mem_ptr(step::Packet&, tlm::tlm_dmi&) override { return false; }
    unsigned int transport_dbg(step::Packet&) override { return 0; }

    /// Sends `packet`, whose last bit arrives at `at`.
    void send(step::Packet packet, Tick at) {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = to_sc_time(at) - sc_core::sc_time_stamp();
        out->nb_transport_fw(packet, phase, delay);
    }

    Owner& owner;
    std::uint32_t index;
    LinkBackward backward;
    PacketInitiatorSocket out;
    PacketTargetSocket in;
};

/// A FIFO switch with infinite queues in the middle of a star: arrivals in (time, port) order, no
/// pauses. Knows nothing of the engine but where a flow's ends are. It can be taken through skips, if it is declared
/// (Network::declare_steady).
class FifoSwitch : public sc_core::sc_module, public SteadyModel {
  public:
    SC_HAS_PROCESS(FifoSwitch);
    FifoSwitch(const sc_core::sc_module_name& name, const Topology& topology, NodeId self,
               Network& network, bool marks = false, DeviceChecker* checker = nullptr)
        : sc_module(name),
          topology_(topology),
          self_(self),
          world_(network.store().world()),
          marks_(marks) {
        for (std::uint32_t i = 0; i < topology.port_count(self); ++i) {
            const PortId mine = topology.first_port(self) + i;
            if (checker != nullptr) {
                ports_.emplace_back(*this, i, checker->from(i), checker->to(i));
            } else {
                ports_.emplace_back(*this, i, network.port(topology.peer_of(mine)));
            }
            free_at_.push_back(0);
            port_to_[topology.neighbor(mine)] = i;
        }
        SC_METHOD(forward);
        sensitive << arrived_;
        dont_initialize();
    }

    void accept(std::uint32_t port, const step::Packet& packet, const sc_core::sc_time& delay) {
        waiting_.emplace(std::make_pair(to_ticks(sc_core::sc_time_stamp() + delay), port), packet);
        wait_for_first();
    }

    /// It goes by its packets alone: what comes as before leaves as before.
    bool is_steady(const std::vector<std::uint32_t>&) override { return true; }
    void advance(const std::vector<std::uint32_t>& ports, Tick dt) override {
        std::map<std::pair<Tick, std::uint32_t>, step::Packet> moved;
        for (const auto& [key, packet] : waiting_) {
            const bool moves = std::binary_search(ports.begin(), ports.end(), key.second);
            moved.emplace(std::make_pair(key.first + (moves ? dt : 0), key.second), packet);
        }
        waiting_ = std::move(moved);
        for (const std::uint32_t port : ports) {
            free_at_[port] += dt;
        }
        arrived_.cancel();
        if (!waiting_.empty()) {
            wait_for_first();
        }
    }

  protected:
    std::uint32_t last_port() const { return static_cast<std::uint32_t>(ports_.size() - 1); }
    /// The port by which `packet` leaves, on its way to `end`.
    virtual std::uint32_t port_for(const step::Packet& /*packet*/, NodeId end) const {
        return port_to_.at(end);
    }
    /// Sends `packet` by a port, whose last bit arrives at `at`.
    virtual void send(std::uint32_t port, step::Packet packet, Tick at) {
        ports_[port].send(packet, at);
    }

  private:
    void wait_for_first() { arrived_.notify(until(waiting_.begin()->first.first)); }

    void forward() {
        const Tick now = to_ticks(sc_core::sc_time_stamp());
        while (!waiting_.empty() && waiting_.begin()->first.first == now) {
            step::Packet packet = waiting_.begin()->second;
            waiting_.erase(waiting_.begin());
            const FlowSpec& flow = world_.spec[packet.flow];
            const bool data = packet.packet_kind() == step::PacketKind::data;
            const std::uint32_t out = port_for(packet, data ? flow.dst : flow.src);
            const PortId port = topology_.first_port(self_) + out;
            free_at_[out] =
                std::max(free_at_[out], now) +
                serialization_time(packet.bytes, topology_.rate(port), Arithmetic::exact);
            packet.hop = packet.hop + 1;
            packet.ce = packet.ce != 0 || (marks_ && data) ? 1 : 0;
            send(out, packet, free_at_[out] + topology_.delay(port));
        }
        if (!waiting_.empty()) {
            wait_for_first();
        }
    }

    const Topology& topology_;
    NodeId self_;
    const step::World& world_;
    bool marks_;  ///< every data packet
    std::deque<ForeignPort<FifoSwitch>> ports_;
    std::vector<Tick> free_at_;
    std::map<NodeId, std::uint32_t> port_to_;
    std::map<std::pair<Tick, std::uint32_t>, step::Packet> waiting_;
    sc_core::sc_event arrived_;
};

/// A host that keeps what it hears, and does what it is told.
class ForeignHost : public sc_core::sc_module {
  public:
    ForeignHost(const sc_core::sc_module_name& name, const Topology& topology, NodeId self,
                Network& network)
        : sc_module(name),
          rate_(topology.rate(topology.first_port(self))),
          delay_(topology.delay(topology.first_port(self))),
          port(*this, 0, network.port(topology.peer_of(topology.first_port(self)))) {}

    void accept(std::uint32_t, const step::Packet& packet, const sc_core::sc_time& delay) {
        heard.push_back(packet);
        if (on_packet) {
            on_packet(packet, to_ticks(sc_core::sc_time_stamp() + delay));
        }
    }

    /// Sends `packet`, whose first bit may leave at `at`, at line rate behind those before it.
    void transmit(step::Packet packet, Tick at) {
        free_at_ =
            std::max(free_at_, at) + serialization_time(packet.bytes, rate_, Arithmetic::exact);
        packet.hop = 1;
        port.send(packet, free_at_ + delay_);
    }

    std::vector<step::Packet> heard;
    std::function<void(const step::Packet&, Tick)> on_packet;  ///< and the instant of its last bit

  private:
    Rate rate_;
    Tick delay_;
    Tick free_at_ = 0;

  public:
    ForeignPort<ForeignHost> port;
};

/// A host that sends one-packet messages at instants that nobody else knows, from a thread of its
/// own, and takes the ACKs.
class MessageSource : public sc_core::sc_module {
  public:
    struct Message {
        FlowId flow;
        Tick at;
    };

    SC_HAS_PROCESS(MessageSource);
    MessageSource(const sc_core::sc_module_name& name, const Topology& topology, NodeId self,
                  std::uint16_t frame, std::vector<Message> messages, Network& network)
        : sc_module(name),
          frame_(frame),
          messages_(std::move(messages)),
          rate_(topology.rate(topology.first_port(self))),
          delay_(topology.delay(topology.first_port(self))),
          port_(*this, 0, network.port(topology.peer_of(topology.first_port(self)))) {
        if (!messages_.empty()) {  // a silent host needs no stack of its own
            SC_THREAD(talk);
        }
    }

    void accept(std::uint32_t, const step::Packet& packet, const sc_core::sc_time& delay) {
        acks.emplace_back(packet.flow, to_ticks(sc_core::sc_time_stamp() + delay));
    }

    std::vector<std::pair<FlowId, Tick>> acks;  ///< flow and instant of arrival

  private:
    void talk() {
        Tick free_at = 0;
        for (const Message& message : messages_) {
            wait(to_sc_time(message.at) - sc_core::sc_time_stamp());
            step::Packet packet;
            packet.flow = message.flow;
            packet.bytes = frame_;
            packet.traffic_class = 3;
            packet.echo = 1;  // the last of its message
            packet.stamp = message.at;
            packet.hop = 1;
            free_at = std::max(free_at, message.at) +
                      serialization_time(frame_, rate_, Arithmetic::exact);
            port_.send(packet, free_at + delay_);
        }
    }

    std::uint16_t frame_;
    std::vector<Message> messages_;
    Rate rate_;
    Tick delay_;
    ForeignPort<MessageSource> port_;
};

}  // namespace sluice::foreign
