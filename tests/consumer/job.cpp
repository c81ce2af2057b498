// SPDX-License-Identifier: Apache-2.0
/// The program of docs/embedding.md with a job, as it stands there.
#include <cstdio>
#include <systemc>

#include "experiment/build_experiment.h"
#include "experiment/testbench/experiment_network.h"
#include "models/host_port/host_port.h"
#include "scenario/scenario.h"

// An accelerator at a host of the job, which reads from another one now and then.
class Accelerator : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Accelerator);
    Accelerator(const sc_core::sc_module_name& name, sluice::HostPort& port)
        : sc_module(name), port_(port) {
        SC_THREAD(run);
    }

  private:
    void run() {
        sluice::Post read;
        read.operation = sluice::Operation::read;
        read.peer = 17;
        read.bytes = 65536;
        for (int i = 0; i < 20; ++i) {
            wait(sc_core::sc_time(3, sc_core::SC_MS));
            const sluice::Completion done = port_.post_and_wait(read);
            std::printf("read in %.1f us\n",
                        static_cast<double>(done.completed - done.posted) / 1e6);
        }
    }
    sluice::HostPort& port_;
};

int sc_main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: job SCENARIO\n");
        return 2;
    }
    sluice::Scenario scenario = sluice::load_scenario(argv[1], {"mode=wormhole"});
    const sluice::BuiltExperiment built =
        sluice::build_experiment(scenario, sluice::HostPorts::attached);
    sluice::ExperimentNetwork job("job", built.experiment, scenario.mode);
    sluice::HostPort port("port", job.network(), 0);
    Accelerator accelerator("accelerator", port);
    sc_core::sc_start();
    job.finish();
    std::printf("all done at %s; %llu skips\n", sc_core::sc_time_stamp().to_string().c_str(),
                static_cast<unsigned long long>(job.counters().phases.skips));
    return 0;
}
