// SPDX-License-Identifier: Apache-2.0
/// A transaction on its way through the network: it is over when the network has completed it and the peer's memory has
/// answered, whichever is later.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/host_port/host_port.h"

namespace sluice {

class MemoryAccess;
class Requester;

class Transfer final : public PostObserver {
  public:
    explicit Transfer(Requester& by) : requester(by) {}

    void on_reached(Tick at) override;
    void on_completed(const Completion& completion) override;
    /// The peer's memory has answered.
    void answer(tlm::tlm_response_status status);

    /// What both sides need of the transaction.
    Requester& requester;
    tlm::tlm_generic_payload* payload = nullptr;
    MemoryAccess* memory = nullptr;  ///< of the peer
    std::uint64_t offset = 0;        ///< in that memory
    Post post;
    std::vector<unsigned char> fetched;  ///< what a read brings, until it lands
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    bool answered = false;
    bool completed = false;
    bool blocking = false;  ///< a process waits in b_transport()
    sc_core::sc_event done;
};

/// Copies bytes, of a payload with byte enables those that are enabled.
void copy_enabled(const tlm::tlm_generic_payload& payload, const unsigned char* from,
                  unsigned char* to);

}  // namespace sluice
