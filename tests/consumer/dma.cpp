// SPDX-License-Identifier: Apache-2.0
/// The program of docs/tlm.md, as it stands there.
#include <cstdio>
#include <systemc>
#include <tlm>
#include <vector>

#include "core/topology/builders.h"
#include "models/network.h"
#include "models/tlm/tlm_fabric.h"
#include "models/tlm/tlm_memory.h"

// A DMA engine at host 0 that copies a buffer to host 1 and reads it back.
class Dma : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
  public:
    SC_HAS_PROCESS(Dma);
    explicit Dma(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.bind(*this);
        SC_THREAD(run);
    }
    tlm::tlm_initiator_socket<32> socket;
    bool right = false;

  private:
    void run() {
        std::vector<unsigned char> data(65536, 0x5a);
        access(tlm::TLM_WRITE_COMMAND, data);
        data.assign(data.size(), 0);
        access(tlm::TLM_READ_COMMAND, data);
        right = data == std::vector<unsigned char>(65536, 0x5a);
        std::printf("done at %s\n", sc_core::sc_time_stamp().to_string().c_str());
    }
    void access(tlm::tlm_command command, std::vector<unsigned char>& data) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(0x1000'0000);  // the first byte of host 1
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned int>(data.size()));
        payload.set_streaming_width(static_cast<unsigned int>(data.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(payload, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

int sc_main(int, char**) {
    sluice::StarParams star;
    star.hosts = 2;
    const sluice::Topology topology = sluice::build_star(star);
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::hpcc, 100'000'000'000);
    const std::vector<sluice::FlowSpec> none;
    const std::vector<sluice::FlowPath> paths;
    sluice::Network network("network", topology, routing, config, none, paths, nullptr);

    sluice::AddressMap map;
    map.add(0, 0x0000'0000, 0x1000'0000);
    map.add(1, 0x1000'0000, 0x1000'0000);
    sluice::TlmFabric fabric("fabric", network, map);
    Dma dma("dma");
    dma.socket.bind(fabric.target(0));
    sluice::TlmMemory memory("memory");
    fabric.memory(1).bind(memory.socket);
    sc_core::sc_start();
    return dma.right ? 0 : 1;
}
