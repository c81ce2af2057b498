// SPDX-License-Identifier: Apache-2.0
/// One end of a cable at one of our nodes: an initiator socket that sends, a target socket that
/// receives, and what lies behind them.
#pragma once

#include "core/packet/state.h"
#include "models/protocol.h"

namespace sluice {

class NetworkClock;

/// The receiving side of a port: grants direct links to our own models, takes transactions from
/// foreign ones.
class LinkReceiver : public PacketForwardIf {
  public:
    LinkReceiver(PortId port, step::World& world, NetworkClock& clock)
        : port_(port), world_(world), clock_(clock) {}

    tlm::tlm_sync_enum nb_transport_fw(step::Packet& packet, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(step::Packet& packet, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(step::Packet& packet, tlm::tlm_dmi& dmi) override;
    unsigned int transport_dbg(step::Packet& packet) override;

  private:
    PortId port_;
    step::World& world_;
    NetworkClock& clock_;
};

/// Nothing travels backwards on a link's forward path.
class LinkBackward : public PacketBackwardIf {
  public:
    tlm::tlm_sync_enum nb_transport_bw(step::Packet& packet, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;
};

/// A port of a node.
struct LinkEnd {
    LinkEnd(const char* out_name, const char* in_name, PortId port, step::World& world,
            NetworkClock& clock, LinkBackward& backward)
        : out(out_name), in(in_name), receiver(port, world, clock) {
        out.bind(backward);
        in.bind(receiver);
    }

    PacketInitiatorSocket out;
    PacketTargetSocket in;
    LinkReceiver receiver;
};

}  // namespace sluice
