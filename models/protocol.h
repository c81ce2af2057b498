// SPDX-License-Identifier: Apache-2.0
/// The TLM-2.0 protocol of a network link: the payload is one packet, its fields inline.
///
/// A transaction is one packet on one direction of one cable. The initiator calls
/// nb_transport_fw(packet, BEGIN_REQ, delay) once; sc_time_stamp() + delay is the instant at which
/// the packet's last bit reaches the target. Calls on one socket come in that order. The target
/// answers TLM_COMPLETED: a link has no back-pressure other than PFC frames, which are packets.
/// The object belongs to the initiator and may be reused when the call returns.
///
/// Direct links: as with DMI for memory, an initiator may ask get_direct_mem_ptr() at start of
/// simulation. A target that is one of our own models answers with a pointer to the ring that it
/// reads (step::Wire); packets are then written there and no call is made per packet. A foreign
/// model answers false and gets transactions. One structure, both speeds.
#pragma once

#include <tlm>

#include "core/packet/packet.h"

namespace sluice {

struct PacketProtocol {
    using tlm_payload_type = step::Packet;
    using tlm_phase_type = tlm::tlm_phase;
};

using PacketForwardIf = tlm::tlm_fw_transport_if<PacketProtocol>;
using PacketBackwardIf = tlm::tlm_bw_transport_if<PacketProtocol>;
using PacketInitiatorSocket = tlm::tlm_initiator_socket<32, PacketProtocol>;
using PacketTargetSocket = tlm::tlm_target_socket<32, PacketProtocol>;

}  // namespace sluice
