// SPDX-License-Identifier: Apache-2.0
/// Two accelerators exchange blocks by DMA through a fabric of 64 hosts, at times that they decide.
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/builders.h"
#include "models/host_port/host_port.h"
#include "models/network.h"

class Accelerator : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Accelerator);
    Accelerator(const sc_core::sc_module_name& name, sluice::HostPort& port, sluice::NodeId peer)
        : sc_module(name), port_(port), peer_(peer) {
        SC_THREAD(run);
    }
    std::int64_t received = 0;

  private:
    void run() {
        sluice::Post block;
        block.operation = sluice::Operation::send;
        block.peer = peer_;
        for (int step = 0; step < 100; ++step) {
            wait(sc_core::sc_time(1 + received % 5, sc_core::SC_US));  // compute what has come
            block.bytes = 20'000 + 333 * step;
            port_.post(block);
            sluice::Arrival arrival;
            while (!port_.arrivals().take(arrival)) {
                wait(port_.arrivals().event());
            }
            received += arrival.bytes;
        }
    }
    sluice::HostPort& port_;
    sluice::NodeId peer_;
};

int sc_main(int, char**) {
    sluice::LeafSpineParams fabric;
    fabric.leaves = 8;
    fabric.hosts_per_leaf = 8;
    const sluice::Topology topology = sluice::build_leaf_spine(fabric);
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::hpcc, 100'000'000'000);
    const std::vector<sluice::FlowSpec> none;
    const std::vector<sluice::FlowPath> paths;
    sluice::Network network("network", topology, routing, config, none, paths, nullptr);
    sluice::HostPort left("left", network, 0), right("right", network, 63);
    Accelerator a("a", left, 63), b("b", right, 0);
    sc_core::sc_start();
    std::printf("received %lld and %lld bytes in %.3f us\n", static_cast<long long>(a.received),
                static_cast<long long>(b.received), sc_core::sc_time_stamp().to_seconds() * 1e6);
    return 0;
}
