// SPDX-License-Identifier: Apache-2.0
/// Checks what a foreign model sends and answers (docs/link-protocol.md). A LinkChecker stands in one direction of one cable,
/// between an initiator socket and the target socket that it would be bound to, and passes every packet on as it is. The
/// checkers around a device may share a DeviceLedger, which tells what the device lost, sent twice, or changed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/network.h"
#include "models/protocol.h"

namespace sluice {

enum class LinkRule : std::uint8_t {
    phase,   ///< one call of nb_transport_fw() with BEGIN_REQ
    answer,  ///< TLM_COMPLETED, and the sender's packet as it was
    causality,  ///< a packet arrives no sooner than the call, a foreign model's no sooner than a lookahead after it
    wire,       ///< one packet after the other, in the order of arrival, at the cable's rate
    packet,     ///< kind, bytes, class, slot and sequence are possible
    duplicate,  ///< a packet left the device more often than it entered
    change,  ///< a packet left the device other than allowed: all but hop, ce, time, ingress and int_hops stay
    lost,  ///< a packet that entered the device and did not leave
};
/// "phase", "answer", ...
const char* rule_name(LinkRule rule);

struct LinkViolation {
    LinkRule rule = LinkRule::phase;
    Tick at = 0;       ///< of the call, in SystemC's time
    std::string what;  ///< names the port and the packet
};
using LinkHandler = std::function<void(const LinkViolation&)>;

/// The packets of flows that are inside of a device which forwards what it gets. A packet is known by its flow, kind,
/// sequence, departure and transmission. Memory is what is inside, and the last packets that left.
class DeviceLedger {
  public:
    /// Packets of the last so many that left are recognized as duplicates; older ones count as made().
    explicit DeviceLedger(std::size_t remembered = 65536) : remembered_(remembered) {}

    void entered(const step::Packet& packet, FlowId flow);
    /// What is wrong with it; an empty text if nothing is.
    std::pair<LinkRule, std::string> left(const step::Packet& packet, FlowId flow);

    std::uint64_t inside() const { return inside_count_; }
    std::uint64_t forwarded() const { return forwarded_; }
    std::uint64_t duplicated() const { return duplicated_; }
    /// Packets that left and had not entered: a device may have its own.
    std::uint64_t made() const { return made_; }
    /// At the end of a simulation: a violation for each packet that is still inside. Returns their number.
    std::uint64_t check_lost(const LinkHandler& handler) const;

  private:
    using Key = std::tuple<FlowId, std::uint32_t, std::uint32_t, Tick, std::uint16_t>;
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    static Key key_of(const step::Packet& packet, FlowId flow);

    std::size_t remembered_;
    std::unordered_map<Key, std::deque<step::Packet>, Hash> inside_;
    std::unordered_map<Key, std::uint32_t, Hash> gone_;
    std::deque<Key> gone_order_;
    std::uint64_t inside_count_ = 0;
    std::uint64_t forwarded_ = 0;
    std::uint64_t duplicated_ = 0;
    std::uint64_t made_ = 0;
};

/// Which way packets of a checker's direction cross the device of the ledger.
enum class Crossing : std::uint8_t { none, enters, leaves };

class LinkChecker : public sc_core::sc_module, public PacketForwardIf, public PacketBackwardIf {
  public:
    /// Of the packets that `port` sends, ours or a foreign model's. `network` and `ledger` must outlive it. ConfigError if
    /// there is no such port.
    LinkChecker(const sc_core::sc_module_name& name, const Topology& topology, Network& network,
                PortId port, Crossing crossing = Crossing::none, DeviceLedger* ledger = nullptr);

    PacketTargetSocket in;      ///< bound to the sender
    PacketInitiatorSocket out;  ///< bound to the receiver

    /// In place of an SC_ERROR for each violation.
    void on_violation(LinkHandler handler) { handler_ = std::move(handler); }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t violations() const { return violations_; }

    tlm::tlm_sync_enum nb_transport_fw(step::Packet& packet, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(step::Packet& packet, sc_core::sc_time& delay) override;
    /// Never granted, so that every packet is a call.
    bool get_direct_mem_ptr(step::Packet&, tlm::tlm_dmi&) override { return false; }
    unsigned int transport_dbg(step::Packet& packet) override { return out->transport_dbg(packet); }
    tlm::tlm_sync_enum nb_transport_bw(step::Packet& packet, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;

  private:
    void report(LinkRule rule, const step::Packet& packet, const std::string& what);
    void check_time(const step::Packet& packet, const sc_core::sc_time& delay);
    void check_packet(const step::Packet& packet);
    void cross(const step::Packet& packet);

    Network& network_;
    PortId port_;
    Rate rate_;
    bool foreign_;  ///< the sender is
    Crossing crossing_;
    DeviceLedger* ledger_;
    LinkHandler handler_;
    Tick last_arrival_ = -1;
    std::uint64_t packets_ = 0;
    std::uint64_t violations_ = 0;
};

/// The checkers of all cables of a foreign device that forwards packets, bound to its neighbours.
class DeviceChecker : public sc_core::sc_module {
  public:
    /// Of `node`, all of whose neighbours are the network's own devices.
    DeviceChecker(const sc_core::sc_module_name& name, const Topology& topology, Network& network,
                  NodeId node);

    /// To be bound to the device's sockets of its port `index`.
    PacketInitiatorSocket& from(std::uint32_t index) { return entering_.at(index).out; }
    PacketTargetSocket& to(std::uint32_t index) { return leaving_.at(index).in; }

    void on_violation(const LinkHandler& handler);
    std::uint64_t violations() const;
    const DeviceLedger& ledger() const { return ledger_; }

  private:
    DeviceLedger ledger_;
    std::deque<LinkChecker> entering_;
    std::deque<LinkChecker> leaving_;
};

}  // namespace sluice
