// SPDX-License-Identifier: Apache-2.0
/// The side of a host from which its initiator reads and writes other hosts' memories: a base-protocol target, whose
/// transactions become RDMA operations of the host's port. Built by TlmFabric.
#pragma once

#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/host_port/host_port.h"
#include "models/tlm/address_map.h"
#include "models/tlm/transfer.h"

namespace sluice {

class Requester : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
  public:
    SC_HAS_PROCESS(Requester);
    /// `memories` by node, null where the host has none. All must outlive it.
    Requester(const sc_core::sc_module_name& name, HostPort& port, const AddressMap& map,
              const std::vector<MemoryAccess*>& memories);
    /// The other end of the socket; null if nobody is bound. Before the simulation starts.
    void attach(tlm::tlm_bw_transport_if<>* initiator) { initiator_ = initiator; }
    NodeId host() const { return port_.host(); }

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    /// Always refused: what is written must travel.
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    /// Reaches every window, the host's own, too, up to the window's end.
    unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;

    /// The network and the memory are done with it.
    void over(Transfer& transfer);

  private:
    /// TLM_INCOMPLETE_RESPONSE if it is to be carried, as `transfer` says then; else the response.
    tlm::tlm_response_status resolve(const tlm::tlm_generic_payload& payload, Post& post,
                                     const AddressWindow*& window) const;
    Transfer& take(tlm::tlm_generic_payload& payload, const Post& post,
                   const AddressWindow& window);
    void put_back(Transfer& transfer) { free_.push_back(&transfer); }
    tlm::tlm_sync_enum begin_request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     const sc_core::sc_time& delay);
    void accept();
    void respond();
    void end_response(Transfer& transfer);
    void next_response();

    HostPort& port_;
    const AddressMap& map_;
    const std::vector<MemoryAccess*>& memories_;
    tlm::tlm_bw_transport_if<>* initiator_ = nullptr;
    std::deque<Transfer> transfers_;  ///< of as many as there have been at once
    std::vector<Transfer*> free_;
    Transfer* requesting_ = nullptr;     ///< BEGIN_REQ without END_REQ
    Transfer* responding_ = nullptr;     ///< BEGIN_RESP without END_RESP
    bool response_in_progress_ = false;  ///< until the instant for which END_RESP was annotated
    std::deque<Transfer*> responses_;    ///< that wait for the one in progress
    sc_core::sc_event accept_;
    sc_core::sc_event next_response_;
};

}  // namespace sluice
