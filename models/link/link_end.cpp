// SPDX-License-Identifier: Apache-2.0
#include "models/link/link_end.h"

#include "models/clock/network_clock.h"
#include "models/report.h"
#include "models/sim_time.h"

namespace sluice {

tlm::tlm_sync_enum LinkReceiver::nb_transport_fw(step::Packet& packet, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {
        refuse("sluice/link", "a packet transaction has one phase, BEGIN_REQ");
    }
    clock_.receive(port_, packet, to_ticks_up(sc_core::sc_time_stamp() + delay));
    return tlm::TLM_COMPLETED;
}

void LinkReceiver::b_transport(step::Packet& packet, sc_core::sc_time& delay) {
    clock_.receive(port_, packet, to_ticks_up(sc_core::sc_time_stamp() + delay));
}

bool LinkReceiver::get_direct_mem_ptr(step::Packet&, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(&world_.link[port_]));
    dmi.allow_read_write();
    return true;
}

unsigned int LinkReceiver::transport_dbg(step::Packet&) { return 0; }

tlm::tlm_sync_enum LinkBackward::nb_transport_bw(step::Packet&, tlm::tlm_phase&,
                                                 sc_core::sc_time&) {
    refuse("sluice/link", "a link's packets travel on the forward path only");
    return tlm::TLM_COMPLETED;
}

void LinkBackward::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}

}  // namespace sluice
