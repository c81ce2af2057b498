// SPDX-License-Identifier: Apache-2.0
/// A memory behind a TLM-2.0 target socket that holds only the pages that have been written: for hosts whose memory no
/// model of the user's stands for. What was never written reads as 0.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <unordered_map>

namespace sluice {

struct TlmMemoryOptions {
    std::uint64_t size = std::uint64_t{1} << 40;  ///< bytes; beyond, TLM_ADDRESS_ERROR_RESPONSE
    sc_core::sc_time latency = sc_core::SC_ZERO_TIME;  ///< of an access
    bool dmi = true;  ///< offered, page by page, if there is no latency
};

/// Without the socket, which depends on the bus width. Supports everything that the generic payload has.
class TlmMemoryBase : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
  public:
    static constexpr std::uint64_t kPage = 65536;

    TlmMemoryBase(const sc_core::sc_module_name& name, const TlmMemoryOptions& options)
        : sc_module(name), options_(options) {}

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override;

  private:
    using Page = std::array<unsigned char, kPage>;
    Page& page(std::uint64_t address);
    tlm::tlm_response_status access(tlm::tlm_generic_payload& payload);
    void copy(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
              std::uint64_t length);

    TlmMemoryOptions options_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

template <unsigned int BUSWIDTH>
class BasicTlmMemory : public TlmMemoryBase {
  public:
    explicit BasicTlmMemory(const sc_core::sc_module_name& name,
                            const TlmMemoryOptions& options = {})
        : TlmMemoryBase(name, options), socket("socket") {
        socket.bind(*this);
    }
    tlm::tlm_target_socket<BUSWIDTH> socket;
};

using TlmMemory = BasicTlmMemory<32>;

}  // namespace sluice
