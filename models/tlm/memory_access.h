// SPDX-License-Identifier: Apache-2.0
/// The side of a host at which the network reads and writes its memory, a base-protocol initiator: each access is made at
/// its instant of SystemC's time, by b_transport(), or by DMI where the memory has offered it, one after the other. Built
/// by TlmFabric.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <systemc>
#include <tlm>
#include <vector>

#include "core/units.h"
#include "models/tlm/transfer.h"

namespace sluice {

class MemoryAccess : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
  public:
    SC_HAS_PROCESS(MemoryAccess);
    explicit MemoryAccess(const sc_core::sc_module_name& name);
    /// The other end of the socket; null if nothing is bound. Before the simulation starts.
    void attach(tlm::tlm_fw_transport_if<>* memory) { memory_ = memory; }
    bool is_bound() const { return memory_ != nullptr; }

    /// The access is to be made at `at`, which is not past. What comes at one instant is served by host, and what one
    /// host sends in the order of the calls.
    void deliver(Transfer& transfer, Tick at);
    /// `payload`'s command on `length` bytes at `offset`, now. Returns how many the memory has done.
    unsigned int debug(const tlm::tlm_generic_payload& payload, std::uint64_t offset,
                       unsigned int length);

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override;

  private:
    struct Due {
        Tick at = 0;
        NodeId from = kNone;
        std::uint64_t order = 0;
        Transfer* transfer = nullptr;
    };
    struct Later {
        bool operator()(const Due& a, const Due& b) const {
            return a.at != b.at       ? a.at > b.at
                   : a.from != b.from ? a.from > b.from
                                      : a.order > b.order;
        }
    };

    void serve();
    void call_memory();
    bool access_directly(Transfer& transfer);
    void ask_for_direct_access(Transfer& transfer);
    void set_up(Transfer& transfer);

    tlm::tlm_fw_transport_if<>* memory_ = nullptr;
    std::priority_queue<Due, std::vector<Due>, Later> due_;
    std::uint64_t delivered_ = 0;
    Transfer* in_service_ = nullptr;                 ///< by b_transport()
    std::map<std::uint64_t, tlm::tlm_dmi> regions_;  ///< by their first byte
    tlm::tlm_generic_payload access_;
    sc_core::sc_event instant_;
    sc_core::sc_event call_;
};

}  // namespace sluice
