// SPDX-License-Identifier: Apache-2.0
/// The program of docs/host-ports.md, as it stands there.
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/builders.h"
#include "models/host_port/host_port.h"
#include "models/network.h"

// An accelerator that writes to the next host, and reads back what came of it.
class Accelerator : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Accelerator);
    Accelerator(const sc_core::sc_module_name& name, sluice::HostPort& port)
        : sc_module(name), port_(port) {
        SC_THREAD(run);
    }

  private:
    void run() {
        sluice::Post post;
        post.peer = 1;
        post.bytes = 65536;
        for (int i = 0; i < 100; ++i) {
            wait(sc_core::sc_time(1.7, sc_core::SC_US));  // compute
            port_.post(post);                             // waits while 128 are outstanding
        }
        post.operation = sluice::Operation::read;
        const sluice::Completion done = port_.post_and_wait(post);
        std::printf("read in %.3f us\n", static_cast<double>(done.completed - done.posted) / 1e6);
    }
    sluice::HostPort& port_;
};

int sc_main(int, char**) {
    sluice::StarParams star;
    star.hosts = 4;
    const sluice::Topology topology = sluice::build_star(star);
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::hpcc, 100'000'000'000);
    const std::vector<sluice::FlowSpec> none;
    const std::vector<sluice::FlowPath> paths;
    sluice::Network network("network", topology, routing, config, none, paths, nullptr);
    sluice::HostPort port("port", network, 0);
    Accelerator accelerator("accelerator", port);
    sc_core::sc_start();
    return 0;
}
