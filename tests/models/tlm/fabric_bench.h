// SPDX-License-Identifier: Apache-2.0
/// A star of four hosts with memories, and initiators that a test drives.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/sim_time.h"
#include "models/tlm/base_protocol_checker.h"
#include "models/tlm/rdma_extension.h"
#include "models/tlm/tlm_fabric.h"
#include "models/tlm/tlm_memory.h"
#include "tests/models/page_star.h"

namespace sluice::test {

/// Payloads as an initiator keeps them: those that nobody holds are used again.
class PayloadPool : public tlm::tlm_mm_interface {
  public:
    tlm::tlm_generic_payload& take() {
        if (free_.empty()) {
            all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            free_.push_back(all_.back().get());
        }
        tlm::tlm_generic_payload& payload = *free_.back();
        free_.pop_back();
        ++held_;
        return payload;
    }
    void free(tlm::tlm_generic_payload* payload) override {
        payload->reset();
        free_.push_back(payload);
        --held_;
    }
    std::size_t held() const { return held_; }

  private:
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
    std::vector<tlm::tlm_generic_payload*> free_;
    std::size_t held_ = 0;
};

inline void set_up(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                   std::uint64_t address, unsigned char* data, unsigned int length) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// An initiator: what it does and how it answers are a test's.
class Cpu : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
  public:
    SC_HAS_PROCESS(Cpu);
    using Backward = std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                                      sc_core::sc_time&)>;
    explicit Cpu(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.bind(*this);
        SC_THREAD(run);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        return backward(payload, phase, delay);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*begin*/, sc_dt::uint64 /*end*/) override {}

    /// Waits until it is over.
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address,
                                    std::vector<unsigned char>& data) {
        tlm::tlm_generic_payload payload;
        set_up(payload, command, address, data.data(), static_cast<unsigned int>(data.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(payload, delay);
        return payload.get_response_status();
    }

    tlm::tlm_initiator_socket<32> socket;
    std::function<void()> program = [] {};
    Backward backward = [](auto&, auto&, auto&) { return tlm::TLM_ACCEPTED; };

  private:
    void run() { program(); }
};

/// Host h's window is at h * kWindow; host 3 has none, and host 2 no memory.
struct FabricBench {
    static constexpr std::uint64_t kWindow = 1U << 20;

    explicit FabricBench(const HostPortOptions& options = {},
                         const TlmMemoryOptions& memory_options = {})
        : network("network", star().topology, star_.routing, star_.config, star_.flows, star_.paths,
                  nullptr),
          fabric("fabric", network, three_windows(), options),
          cpu("cpu") {
        for (const NodeId host : {0U, 1U}) {
            memories.push_back(std::make_unique<TlmMemory>(
                ("memory" + std::to_string(host)).c_str(), memory_options));
            fabric.memory(host).bind(memories.back()->socket);
        }
        cpu.socket.bind(fabric.target(0));
    }
    static AddressMap three_windows() {
        AddressMap map;
        for (const NodeId host : {0U, 1U, 2U}) {
            map.add(host, host * kWindow, kWindow);
        }
        return map;
    }
    /// What a memory holds now.
    std::vector<unsigned char> held(std::uint64_t address, unsigned int length) {
        std::vector<unsigned char> bytes(length, 0xee);
        tlm::tlm_generic_payload payload;
        set_up(payload, tlm::TLM_READ_COMMAND, address, bytes.data(), length);
        bytes.resize(cpu.socket->transport_dbg(payload));
        return bytes;
    }

  private:
    Star star_;
    Star& star() {
        star_.flows.clear();
        return star_;
    }

  public:
    Network network;
    TlmFabric fabric;
    std::vector<std::unique_ptr<TlmMemory>> memories;
    Cpu cpu;
};

}  // namespace sluice::test
