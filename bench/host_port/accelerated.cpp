// SPDX-License-Identifier: Apache-2.0
/// A job in a testbench, whose accelerator hangs on one host and reads and writes at random times, until the job is done.
/// Prints one line of JSON.
///
/// usage: accelerated_testbench SCENARIO HOST|none GAP MEMO|none [KEY=VALUE...]
///   GAP us between two operations, on average; MEMO a file that carries on what earlier runs have seen; keys of the scenario,
///   as after --set
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/run_memo.h"
#include "experiment/testbench/experiment_network.h"
#include "models/host_port/host_port.h"
#include "models/sim_time.h"
#include "scenario/scenario.h"

namespace {

using namespace sluice;

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

/// Reads and writes of up to 256 KiB, to and from random hosts.
class Accelerator : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Accelerator);
    Accelerator(const sc_core::sc_module_name& name, HostPort& port, std::uint32_t hosts, Tick gap,
                const bool& job_is_done)
        : sc_module(name), port_(port), hosts_(hosts), gap_(gap), job_is_done_(job_is_done) {
        port_.completions().on_each([this](const Completion&) { ++completed; });
        SC_THREAD(run);
    }
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;

  private:
    std::uint64_t draw(std::uint64_t below) { return (state_ = mix_bits(state_ + 1)) % below; }
    void run() {
        while (!job_is_done_) {
            Post post;
            post.peer = (port_.host() + 1 + draw(hosts_ - 1)) % hosts_;
            post.bytes = 1 + static_cast<std::int64_t>(draw(262'144));
            post.operation = draw(2) == 0 ? Operation::write : Operation::read;
            post.queue_pair = static_cast<std::uint32_t>(draw(2));
            port_.post(post);
            ++posted;
            wait(to_sc_time(1 + static_cast<Tick>(draw(2 * static_cast<std::uint64_t>(gap_)))));
        }
    }
    HostPort& port_;
    std::uint32_t hosts_;
    Tick gap_;
    const bool& job_is_done_;
    std::uint64_t state_ = 1;
};

int run(const std::string& file, const std::string& host, Tick gap, const std::string& memo_file,
        const std::vector<std::string>& overrides) {
    Scenario scenario = load_scenario(file, overrides);
    BuiltExperiment built =
        build_experiment(scenario, host == "none" ? HostPorts::none : HostPorts::attached);
    const RunMemo memo(memo_file == "none" ? "" : memo_file, true, scenario.effective->json(),
                       built.experiment);
    const std::size_t listed = built.experiment.flows.size();
    std::size_t finished = 0;
    Tick end = 0;
    bool done = false;
    NetworkOptions options;
    options.hooks.on_finish = [&](const FlowRecord& flow) {
        if (flow.id < listed) {
            end = std::max(end, flow.result.finish);
            done = ++finished == listed;
        }
    };
    const double begin = user_seconds();
    ExperimentNetwork network("experiment", built.experiment, scenario.mode, options);
    std::unique_ptr<HostPort> port;
    std::unique_ptr<Accelerator> accelerator;
    if (host != "none") {
        port = std::make_unique<HostPort>("port", network.network(),
                                          static_cast<NodeId>(std::stoul(host)));
        accelerator = std::make_unique<Accelerator>(
            "accelerator", *port,
            static_cast<std::uint32_t>(built.experiment.topology.host_count()), gap, done);
    }
    sc_core::sc_start();
    network.finish();
    if (const std::string problem = memo.save(); !problem.empty()) {
        throw ConfigError(problem);
    }
    const RunCounters counters = network.counters();
    std::printf(
        "{\"mode\": \"%s\", \"host\": \"%s\", \"user_s\": %.3f, \"job_us\": %.6f, \"finished\": "
        "%zu, "
        "\"flows\": %zu, \"posted\": %llu, \"completed\": %llu, \"packet_hops\": %llu, "
        "\"executed_hops\": %llu, \"copies\": %llu, \"skips\": %llu, \"skip_backs\": %llu}\n",
        mode_name(scenario.mode), host.c_str(), user_seconds() - begin,
        static_cast<double>(end) / 1e6, finished, listed,
        static_cast<unsigned long long>(accelerator ? accelerator->posted : 0),
        static_cast<unsigned long long>(accelerator ? accelerator->completed : 0),
        static_cast<unsigned long long>(counters.packet_hops),
        static_cast<unsigned long long>(counters.packet_hops - counters.fold.hops),
        static_cast<unsigned long long>(counters.fold.images),
        static_cast<unsigned long long>(counters.phases.skips),
        static_cast<unsigned long long>(counters.phases.skip_backs));
    return finished == listed ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(
            stderr,
            "usage: accelerated_testbench SCENARIO HOST|none GAP MEMO|none [KEY=VALUE...]\n");
        return 2;
    }
    try {
        return run(argv[1], argv[2], std::stoll(argv[3]) * kMicrosecond, argv[4],
                   {argv + 5, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "accelerated_testbench: %s\n", error.what());
        return 2;
    }
}
